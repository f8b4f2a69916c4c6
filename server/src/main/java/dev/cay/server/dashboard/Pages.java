package dev.cay.server.dashboard;

import dev.cay.http.Exchange;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.node.NodeDashboard;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Serves the dashboard's files. Until they are built, every address answers one plain page that says so.
final class Pages {
    private static final Logger log = LoggerFactory.getLogger(Pages.class);

    /// Styles may be inline, because the terminal makes its own; scripts may not.
    private static final String POLICY = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
            + "img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; manifest-src 'self'; "
            + "form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

    private record Loaded(Path directory, Bundle bundle) {}

    private final NodeDashboard files;
    private volatile @Nullable Loaded loaded;

    Pages(NodeDashboard files) {
        this.files = files;
    }

    /// @param path below `/dashboard/`
    void handle(Exchange exchange, String path) {
        if (!exchange.method().equals("GET") && !exchange.method().equals("HEAD")) {
            exchange.with("Allow", "GET, HEAD");
            exchange.sendJson(
                    405, Map.of("code", 405, "message", "method %s is not allowed here".formatted(exchange.method())));
            return;
        }
        exchange.with("Content-Security-Policy", POLICY)
                .with("X-Content-Type-Options", "nosniff")
                .with("X-Frame-Options", "DENY")
                .with("Referrer-Policy", "same-origin")
                .with("Cross-Origin-Opener-Policy", "same-origin")
                .with("Cross-Origin-Resource-Policy", "same-origin");
        switch (files.state()) {
            case NodeDashboard.State.Ready(Path directory) -> serve(exchange, directory, path);
            case NodeDashboard.State.Building(String step) ->
                say(exchange, true, "The dashboard is being built", "Cay does this once, in the background: " + step);
            case NodeDashboard.State.Failed(String reason) ->
                say(exchange, false, "The dashboard could not be built", reason);
        }
    }

    private void serve(Exchange exchange, Path directory, String path) {
        Bundle bundle;
        try {
            bundle = bundle(directory);
        } catch (IOException e) {
            log.atWarn().setCause(e).log("the dashboard's files cannot be read");
            say(exchange, false, "The dashboard cannot be read", "The log of Cay says why.");
            return;
        }
        var asset = bundle.find(path);
        if (asset.isEmpty() && path.startsWith("assets/")) {
            throw new CayException(ErrorKind.NOT_FOUND, "no such file: " + exchange.path());
        }
        // All other paths are places in the program.
        send(exchange, asset.or(() -> bundle.find("index.html")).orElseThrow());
    }

    private static void send(Exchange exchange, Bundle.Asset asset) {
        exchange.with("Cache-Control", asset.isImmutable() ? "public, max-age=31536000, immutable" : "no-cache")
                .with("Vary", "Accept-Encoding");
        String accepted = exchange.header("Accept-Encoding");
        if (accepted != null && accepted.contains("gzip")) {
            exchange.with("Content-Encoding", "gzip").send(200, asset.type(), asset.gzipped());
        } else {
            exchange.send(200, asset.type(), asset.plain());
        }
    }

    private Bundle bundle(Path directory) throws IOException {
        var known = loaded;
        if (known == null || !known.directory().equals(directory)) {
            known = new Loaded(directory, Bundle.read(directory));
            loaded = known;
        }
        return known.bundle();
    }

    private static void say(Exchange exchange, boolean again, String title, String text) {
        if (again) {
            exchange.with("Refresh", "3");
        }
        String page = """
            <!doctype html>
            <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
            <title>%s</title><style>body{font:16px/1.5 system-ui,sans-serif;max-width:40em;margin:4em auto;padding:0 1em;color-scheme:light dark}</style></head>
            <body><h1>%s</h1><p>%s</p><p>Everything else of Cay works meanwhile: the API, the SDKs, the command line.</p></body></html>
            """.formatted(escaped(title), escaped(title), escaped(text));
        exchange.with("Cache-Control", "no-store")
                .send(503, "text/html; charset=utf-8", page.getBytes(StandardCharsets.UTF_8));
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }
}
