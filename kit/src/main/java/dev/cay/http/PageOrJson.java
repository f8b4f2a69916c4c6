package dev.cay.http;

import dev.cay.wire.EdgeAnswer;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Answers that have two forms: JSON for programs, a page for browsers.
public final class PageOrJson {
    private static final Pattern BROWSER =
            Pattern.compile("mozilla|chrome|safari|firefox|edge|opera|msie", Pattern.CASE_INSENSITIVE);
    private static final Set<String> SCRIPT_MODES = Set.of("cors", "no-cors", "same-origin", "websocket");

    private PageOrJson() {}

    /// Sends the form that the client can show.
    public static void send(Exchange exchange, EdgeAnswer answer) {
        int status = answer.status();
        exchange.with("Cache-Control", "no-store").retryLater(status);
        if (wantsPage(exchange)) {
            exchange.send(status, "text/html; charset=utf-8", answer.page().getBytes(StandardCharsets.UTF_8));
        } else {
            exchange.sendJson(status, answer.body());
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
}
