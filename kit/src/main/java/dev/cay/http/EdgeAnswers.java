package dev.cay.http;

import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// What the edge says instead of a sandbox: JSON for clients, a page for browsers.
///
/// Clients depend on these: only 502 means "the sandbox is gone" to them.
public final class EdgeAnswers {
    private static final Pattern BROWSER =
            Pattern.compile("mozilla|chrome|safari|firefox|edge|opera|msie", Pattern.CASE_INSENSITIVE);
    private static final Set<String> SCRIPT_MODES = Set.of("cors", "no-cors", "same-origin", "websocket");

    private EdgeAnswers() {}

    /// 502 `The sandbox was not found`.
    public static void sandboxNotFound(Exchange exchange, String sandboxId) {
        refuse(exchange, 502, sandboxId, "The sandbox was not found");
    }

    /// 502 `The sandbox is running but port is not open`.
    public static void portClosed(Exchange exchange, SandboxAddress address) {
        var body = new LinkedHashMap<String, Object>();
        body.put("sandboxId", address.sandbox().value());
        body.put("message", "The sandbox is running but port is not open");
        body.put("port", address.port());
        body.put("code", 502);
        answer(exchange, 502, body);
    }

    /// 403 that names the header `e2b-traffic-access-token`.
    public static void trafficTokenNeeded(Exchange exchange, String sandboxId) {
        refuse(
                exchange,
                403,
                sandboxId,
                "The sandbox is not public: send its traffic access token in the header e2b-traffic-access-token");
    }

    /// Any other refusal that concerns one sandbox: resume not permitted, still in transition, too many connections.
    public static void refuse(Exchange exchange, int status, String sandboxId, String message) {
        var body = new LinkedHashMap<String, Object>();
        body.put("sandboxId", sandboxId);
        body.put("message", message);
        body.put("code", status);
        answer(exchange, status, body);
    }

    private static void answer(Exchange exchange, int status, Map<String, Object> body) {
        exchange.with("Cache-Control", "no-store").retryLater(status);
        if (wantsPage(exchange)) {
            exchange.send(status, "text/html; charset=utf-8", page(status, body).getBytes(StandardCharsets.UTF_8));
        } else {
            exchange.sendJson(status, body);
        }
    }

    private static boolean wantsPage(Exchange exchange) {
        String agent = exchange.header("User-Agent");
        if (agent == null || !BROWSER.matcher(agent).find()) {
            return false;
        }
        String accept = lower(exchange.header("Accept"));
        if (accept.contains("application/json") && !accept.contains("text/html")) {
            return false;
        }
        String mode = lower(exchange.header("Sec-Fetch-Mode"));
        if (mode.equals("navigate")) {
            return true;
        }
        return !SCRIPT_MODES.contains(mode) && exchange.header("X-Requested-With") == null;
    }

    private static String lower(@Nullable String text) {
        return text == null ? "" : text.toLowerCase(Locale.ROOT);
    }

    private static String page(int status, Map<String, Object> body) {
        Object port = body.get("port");
        return """
                <!doctype html>
                <html lang="en"><head><meta charset="utf-8"><title>%d</title>
                <style>body{font:16px/1.5 system-ui,sans-serif;margin:15vh auto;max-width:36em;padding:0 1em}\
                code{background:#8882;padding:.1em .3em}</style></head>
                <body><h1>%s</h1><p>Sandbox <code>%s</code>%s</p></body></html>
                """.formatted(
                        status,
                        escaped(String.valueOf(body.get("message"))),
                        escaped(String.valueOf(body.get("sandboxId"))),
                        port == null ? "" : ", port <code>" + port + "</code>");
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;");
    }
}
