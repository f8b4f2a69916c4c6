package dev.cay.proxy;

import dev.cay.http.Exchange;
import dev.cay.wire.SandboxId;
import java.util.Collection;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// What the edge says about the connection to the server in the sandbox, and the last hop does.
public final class LastHop {
    private static final String TLS = LastHop.class.getName() + ".tls";
    private static final String STRUCK = LastHop.class.getName() + ".struck";
    private static final String HEADERS = LastHop.class.getName() + ".headers";
    private static final String TARGET = LastHop.class.getName() + ".target";
    private static final String BODY = LastHop.class.getName() + ".body";

    /// What is done to a body of limited size.
    interface BodyChange {
        byte[] change(byte[] body);
    }

    /// @param sandbox that sends the body
    record FilledBody(SandboxId sandbox, BodyChange change) {}

    private LastHop() {}

    /// The server speaks TLS. Its certificate is not looked at: nobody but the sandbox has the port.
    public static void useTls(Exchange exchange) {
        exchange.request().setAttribute(TLS, true);
    }

    public static boolean usesTls(Exchange exchange) {
        return Boolean.TRUE.equals(exchange.request().getAttribute(TLS));
    }

    /// The server gets these headers, in place of those of the same names that the client sent. Adds to those that are
    /// set already.
    public static void setHeaders(Exchange exchange, Map<String, String> headers) {
        var all = new Headers(headers(exchange));
        all.byName.putAll(headers);
        exchange.request().setAttribute(HEADERS, all);
    }

    /// By name; whatever case a name is asked for in.
    public static Map<String, String> headers(Exchange exchange) {
        return exchange.request().getAttribute(HEADERS) instanceof Headers set ? set.byName : Map.of();
    }

    /// The server gets this path and query in place of the client's.
    static void setTarget(Exchange exchange, String target) {
        exchange.request().setAttribute(TARGET, target);
    }

    static @Nullable String target(Exchange exchange) {
        return exchange.request().getAttribute(TARGET) instanceof String target ? target : null;
    }

    /// Has the body changed before it is sent, if it is not too large and not compressed.
    static void fillBody(Exchange exchange, SandboxId sandbox, BodyChange change) {
        exchange.request().setAttribute(BODY, new FilledBody(sandbox, change));
    }

    static @Nullable FilledBody filledBody(Exchange exchange) {
        return exchange.request().getAttribute(BODY) instanceof FilledBody body ? body : null;
    }

    /// The client does not see these values in the answer, wherever the server repeats them. Before the answer begins,
    /// more
    /// values can be added.
    public static void strike(Exchange exchange, Collection<String> values) {
        Scrub before = scrub(exchange);
        exchange.request().setAttribute(STRUCK, before == null ? new Scrub(values) : before.with(values));
    }

    static @Nullable Scrub scrub(Exchange exchange) {
        return exchange.request().getAttribute(STRUCK) instanceof Scrub scrub ? scrub : null;
    }

    private static final class Headers {
        private final Map<String, String> byName = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);

        Headers(Map<String, String> headers) {
            byName.putAll(headers);
        }
    }
}
