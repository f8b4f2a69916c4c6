package dev.cay.proxy;

import dev.cay.http.Exchange;
import dev.cay.wire.SandboxId;
import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// Settings that the edge or a rule makes for the connection to the server, and that the last hop applies.
public final class LastHop {
    private static final String TLS = LastHop.class.getName() + ".tls";
    private static final String STRUCK = LastHop.class.getName() + ".struck";
    private static final String HEADERS = LastHop.class.getName() + ".headers";
    private static final String TARGET = LastHop.class.getName() + ".target";
    private static final String BODY = LastHop.class.getName() + ".body";
    private static final String ANSWER = LastHop.class.getName() + ".answer";

    /// Changes a body of limited size.
    interface BodyChange {
        byte[] change(byte[] body);
    }

    /// @param sandbox that sends the body
    record FilledBody(SandboxId sandbox, BodyChange change) {}

    private LastHop() {}

    /// The server speaks TLS. Its certificate is not checked: only the sandbox has the port.
    public static void useTls(Exchange exchange) {
        exchange.request().setAttribute(TLS, true);
    }

    public static boolean usesTls(Exchange exchange) {
        return Boolean.TRUE.equals(exchange.request().getAttribute(TLS));
    }

    /// Sets headers for the server, in place of the client's headers of the same names. Adds to those that are set
    /// already.
    public static void setHeaders(Exchange exchange, Map<String, String> headers) {
        var all = new Headers(headers(exchange));
        all.byName.putAll(headers);
        exchange.request().setAttribute(HEADERS, all);
    }

    /// The headers that were set, by name without regard to case.
    public static Map<String, String> headers(Exchange exchange) {
        return exchange.request().getAttribute(HEADERS) instanceof Headers set ? set.byName : Map.of();
    }

    /// Passes on only these headers of the server's answer, and no trailers: the client takes the answer for one of
    /// this origin, where a server in a sandbox must not set cookies or name other addresses.
    ///
    /// @param names in lower case
    public static void answerOnlyWith(Exchange exchange, Set<String> names) {
        exchange.request().setAttribute(ANSWER, Set.copyOf(names));
    }

    /// Whether the client may get this header of the server's answer.
    ///
    /// @param name in lower case
    static boolean answersWith(Exchange exchange, String name) {
        return !(exchange.request().getAttribute(ANSWER) instanceof Set<?> names) || names.contains(name);
    }

    /// Whether the client may get the trailers of the server's answer.
    static boolean passesTrailers(Exchange exchange) {
        return exchange.request().getAttribute(ANSWER) == null;
    }

    /// The server gets this path and query in place of the client's.
    static void setTarget(Exchange exchange, String target) {
        exchange.request().setAttribute(TARGET, target);
    }

    static @Nullable String target(Exchange exchange) {
        return exchange.request().getAttribute(TARGET) instanceof String target ? target : null;
    }

    /// Changes the body before it is sent, if it is not too large and not compressed.
    static void fillBody(Exchange exchange, SandboxId sandbox, BodyChange change) {
        exchange.request().setAttribute(BODY, new FilledBody(sandbox, change));
    }

    static @Nullable FilledBody filledBody(Exchange exchange) {
        return exchange.request().getAttribute(BODY) instanceof FilledBody body ? body : null;
    }

    /// Removes these values from the answer wherever the server repeats them, and asks for no part of a file. More
    /// values can be added before the answer begins.
    public static void strike(Exchange exchange, Collection<String> values) {
        PartialAnswers.withhold(exchange);
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
