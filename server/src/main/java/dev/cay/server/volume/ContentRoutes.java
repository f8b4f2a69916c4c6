package dev.cay.server.volume;

import dev.cay.http.ErrorRenderer;
import dev.cay.http.Exchange;
import dev.cay.http.Handler;
import dev.cay.http.Json;
import dev.cay.http.Routes;
import dev.cay.server.access.Access;
import dev.cay.server.access.Audit;
import dev.cay.server.access.Holders;
import dev.cay.server.access.KeyScope;
import dev.cay.server.quota.Quotas;
import dev.cay.server.request.RequestBody;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.VolumeId;
import dev.cay.wire.node.NodeVolumes;
import dev.cay.wire.node.VolumeContent;
import dev.cay.wire.rest.VolumeEntryStat;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/// Routes for the files of volumes. Requests carry the volume's token and no API key; in errors, `code` is a word,
/// unlike in the rest of the API.
public final class ContentRoutes {
    /// A client that sends nothing for so long counts as disconnected.
    private static final Duration SILENCE = Duration.ofMinutes(2);

    private static final KeyScope READS = KeyScope.parse("read");
    private static final String BEARER = "Bearer ";
    private static final int CHUNK = 256 << 10;
    private static final int MOST_DEPTH = 256;
    private static final int MOST_ID = 65_535;
    private static final int MOST_MODE = 07777;

    private final Access access;
    private final Volumes volumes;
    private final VolumeTokens tokens;
    private final NodeVolumes node;
    private final Quotas quotas;
    private final Map<VolumeId, Set<Exchange>> served = new ConcurrentHashMap<>();

    public ContentRoutes(Access access, Volumes volumes, VolumeTokens tokens, NodeVolumes node, Quotas quotas) {
        this.access = access;
        this.volumes = volumes;
        this.tokens = tokens;
        this.node = node;
        this.quotas = quotas;
        volumes.onDeletion(this::cut);
    }

    private interface Call {
        void on(VolumeContent content, Exchange exchange) throws IOException;
    }

    public void addTo(Routes routes) {
        String of = "/volumecontent/{volumeID}/";
        routes.on("GET", of + "path", opened(ContentRoutes::stat));
        routes.on("PATCH", of + "path", opened(ContentRoutes::change));
        routes.on("DELETE", of + "path", opened(ContentRoutes::remove));
        routes.on("GET", of + "dir", opened(ContentRoutes::list));
        routes.on("POST", of + "dir", opened(ContentRoutes::makeDirectory));
        routes.on("GET", of + "file", opened(ContentRoutes::read));
        routes.on("PUT", of + "file", opened(ContentRoutes::write));
    }

    /// Serves the call only to requests with a token for the volume that they name.
    private Handler opened(Call call) {
        return access.guardToken((exchange, act) -> {
            try {
                serve(exchange, act, call);
            } catch (CayException e) {
                if (e.kind() == ErrorKind.INTERNAL || exchange.committed()) {
                    throw e;
                }
                refuse(exchange, e);
            }
        });
    }

    private static void refuse(Exchange exchange, CayException e) {
        int status = ErrorRenderer.status(e.kind());
        exchange.retryLater(status);
        e.retryAfter().ifPresent(exchange::retryAfter);
        var body = Map.of("code", e.kind().name().toLowerCase(Locale.ROOT), "message", e.userMessage());
        exchange.send(status, "application/json; charset=utf-8", Json.write(body));
    }

    private void serve(Exchange exchange, Audit.Act act, Call call) throws Exception {
        var id = new VolumeId(exchange.parameter("volumeID").toLowerCase(Locale.ROOT));
        String header = Objects.requireNonNullElse(exchange.header("Authorization"), "");
        boolean bearer = header.regionMatches(true, 0, BEARER, 0, BEARER.length());
        var claim = tokens.read(id, bearer ? header.substring(BEARER.length()).strip() : "")
                .orElseThrow(() -> new CayException(
                        ErrorKind.UNAUTHENTICATED,
                        "the volume's token is missing, wrong or expired: send what GET /volumes/%s answers as 'Authorization: Bearer <token>'"
                                .formatted(id)));
        var volume = volumes.find(id).orElseThrow(Volumes::notFound);
        act.byToken(volume.teamId(), "volume:" + id, "volume token");
        if (!claim.writes() && !exchange.method().equals("GET")) {
            throw new CayException(
                    ErrorKind.PERMISSION_DENIED,
                    "this token is for reading, as the key was that it was given to; use a key with the scope 'all'");
        }
        var needs = claim.writes() ? KeyScope.ALL : READS;
        access.holders().serve(claim.holder(), volume.teamId(), needs, exchange, () -> {
            quotas.operation(volume.teamId());
            serve(id, exchange, () -> call.on(node.content(id, volume.teamId()), exchange));
        });
    }

    private void serve(VolumeId id, Exchange exchange, Holders.Work work) throws Exception {
        served.compute(id, (_, others) -> {
            Set<Exchange> all = others == null ? ConcurrentHashMap.newKeySet() : others;
            all.add(exchange);
            return all;
        });
        try {
            // Again, for a volume that was deleted meanwhile.
            if (volumes.find(id).isEmpty()) {
                throw Volumes.notFound();
            }
            work.run();
        } finally {
            served.computeIfPresent(id, (_, all) -> all.remove(exchange) && all.isEmpty() ? null : all);
        }
    }

    /// Cuts requests for a deleted volume. An upload would be told that its file is there, and what it writes until
    /// then
    /// would count for nobody.
    private void cut(VolumeId id) {
        served.getOrDefault(id, Set.of()).forEach(exchange -> exchange.abort("the volume was deleted"));
    }

    private static void stat(VolumeContent content, Exchange exchange) {
        exchange.sendJson(200, VolumeEntryStat.of(content.stat(path(exchange))));
    }

    private static void change(VolumeContent content, Exchange exchange) {
        var body = RequestBody.of(exchange);
        var rights = new VolumeContent.Rights(
                checked("uid", body.integer("uid"), MOST_ID),
                checked("gid", body.integer("gid"), MOST_ID),
                checked("mode", body.integer("mode"), MOST_MODE));
        exchange.sendJson(200, VolumeEntryStat.of(content.change(path(exchange), rights)));
    }

    private static void remove(VolumeContent content, Exchange exchange) {
        content.remove(path(exchange));
        exchange.send(204);
    }

    private static void list(VolumeContent content, Exchange exchange) {
        Integer depth = number(exchange, "depth", MOST_DEPTH);
        var entries = content.list(path(exchange), depth == null ? 1 : Math.max(1, depth));
        exchange.sendJson(200, entries.stream().map(VolumeEntryStat::of).toList());
    }

    private static void makeDirectory(VolumeContent content, Exchange exchange) {
        var made = content.makeDirectory(path(exchange), rights(exchange), force(exchange));
        exchange.sendJson(201, VolumeEntryStat.of(made));
    }

    private static void read(VolumeContent content, Exchange exchange) throws IOException {
        try (var file = content.read(path(exchange))) {
            // A page in a file has no part in this host, where browsers of people are signed in.
            exchange.with("Content-Type", "application/octet-stream").with("Content-Security-Policy", "sandbox");
            var out = exchange.stream(200, file.size());
            send(file, out, exchange);
        }
    }

    /// Sends a file. After the answer has begun, a failure cuts the connection.
    private static void send(VolumeContent.Content file, OutputStream out, Exchange exchange) throws IOException {
        try {
            if (copy(file.stream(), out) < file.size()) {
                exchange.abort("the file became shorter while it was read");
            }
        } catch (CayException e) {
            exchange.abort(e.userMessage());
        }
    }

    private static long copy(InputStream from, OutputStream to) throws IOException {
        byte[] some = new byte[CHUNK];
        long all = 0;
        for (int count = from.read(some); count >= 0; count = from.read(some)) {
            to.write(some, 0, count);
            all += count;
        }
        return all;
    }

    private static void write(VolumeContent content, Exchange exchange) throws IOException {
        var written = content.write(path(exchange), rights(exchange), force(exchange), exchange.body(SILENCE));
        exchange.sendJson(201, VolumeEntryStat.of(written));
    }

    private static String path(Exchange exchange) {
        String path = exchange.query("path");
        if (path == null || path.isEmpty()) {
            throw new CayException(ErrorKind.INVALID_ARGUMENT, "the query parameter 'path' is missing");
        }
        return path.startsWith("/") ? path : "/" + path;
    }

    private static VolumeContent.Rights rights(Exchange exchange) {
        return new VolumeContent.Rights(
                number(exchange, "uid", MOST_ID),
                number(exchange, "gid", MOST_ID),
                number(exchange, "mode", MOST_MODE));
    }

    private static boolean force(Exchange exchange) {
        return "true".equalsIgnoreCase(exchange.query("force"));
    }

    private static @Nullable Integer number(Exchange exchange, String name, int most) {
        String text = exchange.query(name);
        if (text == null) {
            return null;
        }
        try {
            return checked(name, Integer.valueOf(text), most);
        } catch (NumberFormatException e) {
            throw outside(name, most);
        }
    }

    private static @Nullable Integer checked(String name, @Nullable Integer value, int most) {
        if (value != null && (value < 0 || value > most)) {
            throw outside(name, most);
        }
        return value;
    }

    private static CayException outside(String name, int most) {
        return new CayException(
                ErrorKind.INVALID_ARGUMENT, "'%s' must be a whole number from 0 to %d".formatted(name, most));
    }
}
