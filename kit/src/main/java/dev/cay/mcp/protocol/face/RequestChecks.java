package dev.cay.mcp.protocol.face;

import dev.cay.http.Exchange;
import dev.cay.mcp.protocol.ConversationHost;
import dev.cay.mcp.protocol.Message;
import dev.cay.mcp.protocol.Refusal;
import dev.cay.mcp.protocol.RpcException;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/// Checks of every request before its body is read.
final class RequestChecks {
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(30);

    private final ConversationHost host;
    private final int largest;
    private final Predicate<String> hosts;

    RequestChecks(ConversationHost host, int largest, Predicate<String> hosts) {
        this.host = host;
        this.largest = largest;
        this.hosts = hosts;
    }

    /// The owner of the token. Checked first, so that nobody learns anything without a valid token.
    String owner(Exchange exchange) {
        String owner = host.admit(bearer(exchange.header("Authorization")));
        if (owner == null) {
            exchange.with("WWW-Authenticate", "Bearer");
            throw new Refusal(401, "a valid token is needed, as `Authorization: Bearer TOKEN`");
        }
        return owner;
    }

    private static @Nullable String bearer(@Nullable String authorization) {
        if (authorization == null || !authorization.regionMatches(true, 0, "Bearer ", 0, 7)) {
            return null;
        }
        String token = authorization.substring(7).strip();
        return token.isEmpty() ? null : token;
    }

    /// Refuses requests of web pages: by DNS rebinding, or from another origin.
    void checkHosts(Exchange exchange) {
        String name = hostOf("http://" + exchange.authority());
        if (!allowed(name)) {
            throw new Refusal(403, "this server is not called %s".formatted(Refusal.quoted(exchange.authority())));
        }
        String origin = exchange.header("Origin");
        if (origin != null && !allowed(hostOf(origin))) {
            throw new Refusal(403, "pages of %s may not ask this server".formatted(Refusal.quoted(origin)));
        }
    }

    private static String hostOf(String url) {
        try {
            String host = URI.create(url.strip()).getHost();
            return host == null ? "" : host.toLowerCase(Locale.ROOT);
        } catch (IllegalArgumentException e) {
            return "";
        }
    }

    private boolean allowed(String name) {
        if (name.isEmpty()) {
            return false;
        }
        return name.equals("localhost")
                || name.endsWith(".localhost")
                || name.equals("[::1]")
                || name.matches("127(\\.\\d{1,3}){3}")
                || hosts.test(name);
    }

    Message message(Exchange exchange) throws IOException {
        String type = exchange.header("Content-Type");
        if (type == null || !mediaType(type).equals("application/json")) {
            throw new Refusal(415, "Content-Type must be application/json");
        }
        List<String> accepted = all(exchange, "Accept");
        if (!accepts(accepted, "application/json") || !accepts(accepted, "text/event-stream")) {
            throw new Refusal(406, "Accept must name application/json and text/event-stream");
        }
        try {
            return Message.parse(body(exchange));
        } catch (RpcException e) {
            throw new Refusal(400, e.code(), e.text());
        }
    }

    void checkAcceptsEvents(Exchange exchange) {
        if (!accepts(all(exchange, "Accept"), "text/event-stream")) {
            throw new Refusal(406, "Accept must name text/event-stream");
        }
    }

    private byte[] body(Exchange exchange) throws IOException {
        String length = exchange.header("Content-Length");
        if (length != null && length.matches("\\d+") && (length.length() > 12 || Long.parseLong(length) > largest)) {
            throw tooLarge();
        }
        byte[] body = exchange.body(LONGEST_PAUSE).readNBytes(largest + 1);
        if (body.length > largest) {
            throw tooLarge();
        }
        return body;
    }

    private Refusal tooLarge() {
        return new Refusal(413, "a message may have at most %d bytes".formatted(largest));
    }

    private static List<String> all(Exchange exchange, String name) {
        return exchange.headers().stream()
                .filter(header -> header.getKey().equalsIgnoreCase(name))
                .map(Map.Entry::getValue)
                .flatMap(value -> List.of(value.split(",")).stream())
                .map(RequestChecks::mediaType)
                .toList();
    }

    private static boolean accepts(List<String> accepted, String type) {
        return accepted.contains(type)
                || accepted.contains("*/*")
                || accepted.contains(type.substring(0, type.indexOf('/')) + "/*");
    }

    private static String mediaType(String value) {
        int end = value.indexOf(';');
        return (end < 0 ? value : value.substring(0, end)).strip().toLowerCase(Locale.ROOT);
    }
}
