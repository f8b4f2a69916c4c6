package dev.cay.server.people;

import dev.cay.http.Exchange;
import java.nio.charset.StandardCharsets;

/// The pages of sign-in. They have no scripts, fetch nothing, and stand in no frame.
final class SignInPage {
    private static final String STYLE =
            "body{font:16px/1.5 sans-serif;max-width:40em;margin:4em auto;padding:0 1em}button,a.button{font:inherit;padding:.4em 1em}";

    private SignInPage() {}

    /// @param content HTML
    /// @param targets where forms may lead beside this server, like `http://localhost:8080`
    static void send(Exchange exchange, int status, String title, String content, String targets) {
        send(exchange, status, title, content, targets, "");
    }

    /// The same, but the browser asks for it again every few seconds.
    static void sendWaiting(Exchange exchange, String title, String content) {
        send(exchange, 200, title, content, "", "<meta http-equiv=\"refresh\" content=\"4\">");
    }

    /// A sentence.
    static void say(Exchange exchange, int status, String title, String text) {
        send(exchange, status, title, "<p>" + escaped(text) + "</p>", "", "");
    }

    /// The referrer goes to this server alone: without any, browsers name no origin with forms.
    private static void send(Exchange exchange, int status, String title, String content, String targets, String head) {
        String page = """
                <!doctype html>
                <html lang="en"><head><meta charset="utf-8"><title>%s</title><style>%s</style>%s</head>
                <body><h1>%s</h1>%s</body></html>
                """.formatted(escaped(title), STYLE, head, escaped(title), content);
        exchange.with("Cache-Control", "no-store")
                .with("Referrer-Policy", "same-origin")
                .with("X-Content-Type-Options", "nosniff")
                .with("X-Frame-Options", "DENY")
                .with("Cross-Origin-Opener-Policy", "same-origin")
                .with(
                        "Content-Security-Policy",
                        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'; form-action 'self' "
                                + targets)
                .send(status, "text/html; charset=utf-8", page.getBytes(StandardCharsets.UTF_8));
    }

    static void redirect(Exchange exchange, String address) {
        exchange.with("Cache-Control", "no-store")
                .with("Referrer-Policy", "no-referrer")
                .with("Location", address)
                .send(303);
    }

    static String escaped(String text) {
        return text.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;")
                .replace("'", "&#39;");
    }
}
