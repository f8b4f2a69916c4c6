package dev.cay.sdk;

import dev.cay.sdk.SandboxException.Kind;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The files of a sandbox. Relative paths begin at the user's home.
public final class SandboxFiles {
    private static final Duration NO_LIMIT = Duration.ZERO;

    /// Limit of a whole upload, which may be large, including its answer.
    private static final Duration UPLOAD_LIMIT = Duration.ofHours(1);

    private final SandboxEndpoint door;
    private final Http http;
    private final Rpc rpc;
    private final @Nullable String user;

    SandboxFiles(SandboxEndpoint door, Http http, @Nullable String user) {
        this.door = door;
        this.http = http;
        this.rpc = new Rpc(door, http, user);
        this.user = user;
    }

    /// The same files as another user: relative paths begin at its home, and it owns new files.
    public SandboxFiles as(String name) {
        return new SandboxFiles(door, http, name);
    }

    public String read(String path) {
        return new String(readBytes(path), StandardCharsets.UTF_8);
    }

    public byte[] readBytes(String path) {
        return http.bytes(door.request(SandboxEndpoint.SYSTEM, "/files" + query(path))
                .GET()
                .build());
    }

    /// Opens a file of any size. The caller reads and closes the stream.
    public InputStream open(String path) {
        return http.open(door.request(SandboxEndpoint.SYSTEM, "/files" + query(path))
                        .GET()
                        .build())
                .body();
    }

    /// The same with a limit, after which reading fails with an {@link IOException}.
    public InputStream open(String path, Duration limit) {
        var content = open(path);
        var alarm = http.alarm(content, limit);
        return new FilterInputStream(content) {
            @Override
            public void close() throws IOException {
                alarm.close();
                super.close();
            }
        };
    }

    /// Downloads a file of any size to a local file.
    public void download(String path, Path to) {
        try (var in = open(path)) {
            Files.copy(in, to, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw new SandboxException(
                    Kind.FAILED, "cannot download %s to %s: %s".formatted(path, to, e.getMessage()), e);
        }
    }

    /// Writes a file, replaces an existing one, and creates missing parent directories.
    public void write(String path, String text) {
        write(path, BodyPublishers.ofString(text));
    }

    public void write(String path, byte[] bytes) {
        write(path, BodyPublishers.ofByteArray(bytes));
    }

    /// Writes a file from a stream of any size. The caller closes the stream.
    public void write(String path, InputStream content) {
        write(path, BodyPublishers.ofInputStream(() -> content));
    }

    /// Uploads a local file of any size.
    public void upload(Path from, String path) {
        try {
            write(path, BodyPublishers.ofFile(from));
        } catch (java.io.FileNotFoundException e) {
            throw new SandboxException(Kind.NOT_FOUND, "there is no file " + from, e);
        }
    }

    private void write(String path, BodyPublisher content) {
        http.bytes(door.request(SandboxEndpoint.SYSTEM, "/files" + query(path))
                .timeout(UPLOAD_LIMIT)
                .header("Content-Type", "application/octet-stream")
                .POST(content)
                .build());
    }

    private String query(String path) {
        var parameters = new LinkedHashMap<String, String>();
        parameters.put("path", path);
        if (user != null) {
            parameters.put("username", user);
        }
        return Api.query(parameters);
    }

    public List<FileInfo> list(String directory) {
        return list(directory, 1);
    }

    /// @param depth number of levels; 1 lists only the directory itself
    public List<FileInfo> list(String directory, int depth) {
        return rpc.call("filesystem.Filesystem/ListDir", Map.of("path", directory, "depth", depth))
                .path("entries")
                .valueStream()
                .map(FileInfo::of)
                .toList();
    }

    public Optional<FileInfo> find(String path) {
        try {
            return Optional.of(FileInfo.of(
                    rpc.call("filesystem.Filesystem/Stat", Map.of("path", path)).path("entry")));
        } catch (SandboxException e) {
            if (e.kind() == Kind.NOT_FOUND) {
                return Optional.empty();
            }
            throw e;
        }
    }

    public boolean exists(String path) {
        return find(path).isPresent();
    }

    /// Creates a directory and missing parent directories.
    ///
    /// @return false if it existed
    public boolean makeDirectory(String path) {
        try {
            rpc.call("filesystem.Filesystem/MakeDir", Map.of("path", path));
            return true;
        } catch (SandboxException e) {
            if (e.kind() == Kind.CONFLICT) {
                return false;
            }
            throw e;
        }
    }

    public void move(String from, String to) {
        rpc.call("filesystem.Filesystem/Move", Map.of("source", from, "destination", to));
    }

    /// Deletes a file, or a directory with its content. Does nothing if it does not exist.
    public void remove(String path) {
        rpc.call("filesystem.Filesystem/Remove", Map.of("path", path));
    }

    /// Watches a directory. The listener gets one event after the other.
    public Watch watch(String directory, Consumer<FileEvent> listener) {
        return watch(directory, false, listener);
    }

    /// @param recursive whether to watch directories below it too, also those that are created later
    public Watch watch(String directory, boolean recursive, Consumer<FileEvent> listener) {
        var wish = Map.of("path", directory, "recursive", recursive);
        return Watch.over(rpc.stream("filesystem.Filesystem/WatchDir", wish, NO_LIMIT), listener);
    }

    /// A URL for downloading a file without a key, valid for this time.
    public URI downloadUrl(String path, Duration validFor) {
        return url(path, "read", validFor);
    }

    /// A URL for uploading a file without a key, by a POST with the body as `application/octet-stream` or as a form.
    public URI uploadUrl(String path, Duration validFor) {
        return url(path, "write", validFor);
    }

    private URI url(String path, String operation, Duration validFor) {
        if (door.token() == null) {
            return door.files(query(path));
        }
        long end = Instant.now().plus(validFor).getEpochSecond();
        String name = user == null ? "" : user;
        String signature = signature("%s:%s:%s:%s:%d".formatted(path, operation, name, door.token(), end));
        var more = Map.of("signature", signature, "signature_expiration", Long.toString(end));
        return door.files(query(path) + Api.query(more).replace('?', '&'));
    }

    static String signature(String text) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return "v1_" + Base64.getEncoder().withoutPadding().encodeToString(digest);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }
}
