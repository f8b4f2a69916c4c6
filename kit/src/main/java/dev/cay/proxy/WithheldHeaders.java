package dev.cay.proxy;

import dev.cay.http.Exchange;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Headers of a request that the server in the sandbox must not see, because they hold credentials of the platform. The
/// edge knows which, the last hop leaves them out.
public final class WithheldHeaders {
    private static final String ATTRIBUTE = WithheldHeaders.class.getName();

    private WithheldHeaders() {}

    /// Withholds these headers beside those that are withheld already.
    public static void headers(Exchange exchange, Set<String> names) {
        if (names.isEmpty()) {
            return;
        }
        exchange.request()
                .setAttribute(
                        ATTRIBUTE,
                        Stream.concat(of(exchange).stream(), names.stream().map(name -> name.toLowerCase(Locale.ROOT)))
                                .collect(Collectors.toUnmodifiableSet()));
    }

    /// The names of those headers, in lower case.
    public static Set<?> of(Exchange exchange) {
        return exchange.request().getAttribute(ATTRIBUTE) instanceof Set<?> names ? names : Set.of();
    }
}
