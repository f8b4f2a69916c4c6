package dev.cay.proxy;

import dev.cay.http.Exchange;
import java.util.Collection;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// What the edge says about the connection to the server in the sandbox, and the last hop does.
public final class LastHop {
    private static final String TLS = LastHop.class.getName() + ".tls";
    private static final String STRUCK = LastHop.class.getName() + ".struck";
    private static final String HEADERS = LastHop.class.getName() + ".headers";

    private LastHop() {}

    /// The server speaks TLS. Its certificate is not looked at: nobody but the sandbox has the port.
    public static void useTls(Exchange exchange) {
        exchange.request().setAttribute(TLS, true);
    }

    public static boolean usesTls(Exchange exchange) {
        return Boolean.TRUE.equals(exchange.request().getAttribute(TLS));
    }

    /// The server gets these headers, in place of those of the same names that the client sent.
    public static void setHeaders(Exchange exchange, Map<String, String> headers) {
        exchange.request().setAttribute(HEADERS, new Headers(headers));
    }

    /// By name; whatever case a name is asked for in.
    public static Map<String, String> headers(Exchange exchange) {
        return exchange.request().getAttribute(HEADERS) instanceof Headers set ? set.byName : Map.of();
    }

    /// The client does not see these values in the answer, wherever the server repeats them.
    public static void strike(Exchange exchange, Collection<String> values) {
        exchange.request().setAttribute(STRUCK, new Scrub(values));
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
