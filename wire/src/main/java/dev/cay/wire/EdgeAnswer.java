package dev.cay.wire;

import java.util.LinkedHashMap;
import java.util.Map;

/// The answer to a request that names a sandbox and does not reach it: JSON for programs, a page for browsers.
///
/// Clients depend on these: only 502 means "the sandbox is gone" to them.
///
/// @param status of HTTP
/// @param body   the fields of the JSON, in order
public record EdgeAnswer(int status, Map<String, Object> body) {
    /// 502 `The sandbox was not found`.
    public static EdgeAnswer sandboxNotFound(String sandboxId) {
        return refusal(502, sandboxId, "The sandbox was not found");
    }

    /// 502 `The sandbox is running but port is not open`.
    public static EdgeAnswer portClosed(SandboxAddress address) {
        var body = new LinkedHashMap<String, Object>();
        body.put("sandboxId", address.sandbox().value());
        body.put("message", "The sandbox is running but port is not open");
        body.put("port", address.port());
        body.put("code", 502);
        return new EdgeAnswer(502, body);
    }

    /// 403 that names the header `e2b-traffic-access-token`.
    public static EdgeAnswer trafficTokenNeeded(String sandboxId) {
        return refusal(
                403,
                sandboxId,
                "The sandbox is not public: send its traffic access token in the header e2b-traffic-access-token");
    }

    /// Any other refusal that concerns one sandbox: resume not permitted, still in transition, too many connections.
    public static EdgeAnswer refusal(int status, String sandboxId, String message) {
        var body = new LinkedHashMap<String, Object>();
        body.put("sandboxId", sandboxId);
        body.put("message", message);
        body.put("code", status);
        return new EdgeAnswer(status, body);
    }

    /// The same answer as a page in HTML.
    public String page() {
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
