package dev.cay.node.sandbox;

import dev.cay.http.Exchange;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/// The requests under way in one sandbox, so that its end can cut them. Thread-safe.
final class OpenExchanges {
    private final Set<Exchange> open = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;

    /// Whether the exchange may go on; if so it is cut when {@link #cut} is called before it ends.
    boolean enter(Exchange exchange) {
        open.add(exchange);
        exchange.onEnd(() -> open.remove(exchange));
        if (closed) {
            open.remove(exchange);
            return false;
        }
        return true;
    }

    /// Nobody enters any more.
    void refuse() {
        closed = true;
    }

    /// Cuts what is still open: clients must see a reset, as a clean end would look like an answer.
    void cut() {
        open.forEach(exchange -> exchange.abort("the sandbox ended"));
    }
}
