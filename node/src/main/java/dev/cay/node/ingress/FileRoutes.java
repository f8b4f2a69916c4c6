package dev.cay.node.ingress;

import dev.cay.http.Exchange;
import dev.cay.node.files.Account;
import dev.cay.node.files.SandboxPath;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipException;
import org.jspecify.annotations.Nullable;

/// `/files`: whole files in and out, streamed, with the memory of one buffer.
final class FileRoutes {
    private static final int BUFFER = 256 << 10;
    private static final int SMALL_BUFFER = 16 << 10;
    private static final Duration PATIENCE = Duration.ofMinutes(5);
    private static final String METADATA = "x-metadata-";
    private static final int MAX_KEY = 246;
    private static final int MAX_METADATA = 4096;
    private static final int ATTRIBUTE_PREFIX = "user.e2b.".length();

    private final EnvdSandbox sandbox;
    private final Users users;
    private final InstantSource clock;

    /// Only this many transfers of a sandbox have large buffers. The others are slower, and hundreds of idle ones do
    /// not use up the node's memory.
    private final Semaphore fastLanes = new Semaphore(8);

    FileRoutes(EnvdSandbox sandbox, Users users, InstantSource clock) {
        this.sandbox = sandbox;
        this.users = users;
        this.clock = clock;
    }

    void download(Exchange exchange) throws Exception {
        FileAccess.check(exchange, sandbox.accessToken(), clock.instant());
        var user = users.ofQuery(exchange);
        var path = resolve(exchange.query("path"), user);
        try (var file = sandbox.files().read(path)) {
            boolean fast = fastLanes.tryAcquire();
            try {
                new Download(exchange, file, path.name(), fast ? BUFFER : SMALL_BUFFER).send();
            } finally {
                if (fast) {
                    fastLanes.release();
                }
            }
        }
    }

    void upload(Exchange exchange) throws Exception {
        exchange.sendJson(200, receive(exchange));
    }

    private List<Map<String, Object>> receive(Exchange exchange) throws IOException {
        FileAccess.check(exchange, sandbox.accessToken(), clock.instant());
        var user = users.ofQuery(exchange);
        var metadata = metadata(exchange);
        String type = exchange.header("Content-Type");
        String kind = type == null ? "" : type.split(";", 2)[0].strip().toLowerCase(Locale.ROOT);
        try (var body = decoded(exchange)) {
            var written = switch (kind) {
                case "multipart/form-data" ->
                    writeParts(
                            new Multipart(body, Multipart.boundary(type == null ? "" : type)),
                            exchange,
                            user,
                            metadata);
                case "application/octet-stream" -> List.of(writeBody(body, exchange, user, metadata));
                default ->
                    throw bad("unsupported content type '%s': use multipart/form-data or application/octet-stream"
                            .formatted(kind));
            };
            return written.stream().map(path -> answer(path, metadata)).toList();
        } catch (ZipException | EOFException e) {
            throw bad("the body is not valid gzip");
        }
    }

    private static InputStream decoded(Exchange exchange) throws IOException {
        String encoding = exchange.header("Content-Encoding");
        if (encoding == null || encoding.isBlank() || encoding.equalsIgnoreCase("identity")) {
            return exchange.body(PATIENCE);
        }
        if (encoding.equalsIgnoreCase("gzip")) {
            return new GZIPInputStream(exchange.body(PATIENCE), SMALL_BUFFER);
        }
        throw bad("unsupported content encoding '%s'".formatted(encoding));
    }

    private List<SandboxPath> writeParts(Multipart parts, Exchange exchange, Account user, Map<String, String> metadata)
            throws IOException {
        String target = exchange.query("path");
        var written = new ArrayList<SandboxPath>();
        var seen = new HashSet<SandboxPath>();
        for (var part = parts.next(); part != null; part = parts.next()) {
            if (!part.name().equals("file")) {
                continue;
            }
            String name = target != null ? target : part.filename();
            if (name == null || name.isEmpty()) {
                throw bad("a part 'file' has no filename and the query has no path");
            }
            written.add(write(part.body(), once(resolve(name, user), seen), user, metadata));
        }
        if (written.isEmpty()) {
            throw bad("the body has no part named 'file'");
        }
        return written;
    }

    private static SandboxPath once(SandboxPath path, Set<SandboxPath> seen) {
        if (!seen.add(path)) {
            throw bad("you cannot upload multiple files to the same path '%s' in one upload request".formatted(path));
        }
        return path;
    }

    private SandboxPath writeBody(InputStream body, Exchange exchange, Account user, Map<String, String> metadata)
            throws IOException {
        String path = exchange.query("path");
        if (path == null || path.isEmpty()) {
            throw bad("path is required for application/octet-stream");
        }
        return write(body, resolve(path, user), user, metadata);
    }

    /// Writes an upload. The file is not touched before the first piece has arrived: a small upload that breaks, or
    /// whose sender disconnects, destroys nothing. A piece is as large as the buffer, because each is one turn on a
    /// file thread.
    private SandboxPath write(InputStream body, SandboxPath path, Account user, Map<String, String> metadata)
            throws IOException {
        boolean fast = fastLanes.tryAcquire();
        try {
            byte[] piece = new byte[fast ? BUFFER : SMALL_BUFFER];
            int length = body.readNBytes(piece, 0, piece.length);
            long size = 0;
            try (var file = sandbox.files().write(path, user, metadata)) {
                while (length > 0) {
                    file.write(piece, 0, length);
                    size += length;
                    length = body.readNBytes(piece, 0, piece.length);
                }
            }
            FileLog.written(sandbox.log(), path, size, user);
            return path;
        } finally {
            if (fast) {
                fastLanes.release();
            }
        }
    }

    static Map<String, Object> answer(SandboxPath path, Map<String, String> metadata) {
        var entry = new LinkedHashMap<String, Object>();
        entry.put("path", path.text());
        entry.put("name", path.name());
        entry.put("type", "file");
        if (!metadata.isEmpty()) {
            entry.put("metadata", metadata);
        }
        return entry;
    }

    static Map<String, String> metadata(Exchange exchange) {
        var metadata = new LinkedHashMap<String, String>();
        int total = 0;
        for (var header : exchange.headers()) {
            String name = header.getKey().toLowerCase(Locale.ROOT);
            if (!name.startsWith(METADATA)) {
                continue;
            }
            String key = name.substring(METADATA.length());
            if (key.isEmpty() || key.length() > MAX_KEY) {
                throw bad("a metadata key must have 1 to %d characters".formatted(MAX_KEY));
            }
            if (!header.getValue().chars().allMatch(c -> c >= 0x20 && c < 0x7f)) {
                throw bad("metadata '%s' must be printable ASCII".formatted(key));
            }
            metadata.put(key, header.getValue());
            total += ATTRIBUTE_PREFIX + key.length() + header.getValue().length();
        }
        if (total > MAX_METADATA) {
            throw bad("metadata must not exceed %d bytes in all".formatted(MAX_METADATA));
        }
        return metadata;
    }

    private SandboxPath resolve(@Nullable String path, Account user) {
        String directory = sandbox.defaultWorkdir() == null ? user.home() : sandbox.defaultWorkdir();
        return SandboxPath.resolve(path == null ? "" : path, user, directory);
    }

    private static CayException bad(String message) {
        return new CayException(ErrorKind.INVALID_ARGUMENT, message);
    }
}
