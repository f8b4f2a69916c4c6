package dev.cay.proxy;

import dev.cay.http.Exchange;

/// Marks an exchange between a sandbox and a server outside. The proxy changes only what rules say: the host names are
/// not Cay's, so cookies may be for whole domains.
public final class OutboundExchange {
    private static final String ATTRIBUTE = OutboundExchange.class.getName();

    private OutboundExchange() {}

    public static void mark(Exchange exchange) {
        exchange.request().setAttribute(ATTRIBUTE, true);
    }

    static boolean is(Exchange exchange) {
        return exchange.request().getAttribute(ATTRIBUTE) != null;
    }
}
