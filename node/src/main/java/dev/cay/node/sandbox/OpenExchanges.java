package dev.cay.node.sandbox;

import dev.cay.http.Exchange;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/// The requests under way in one sandbox, so that its end can cut them. Thread-safe.
final class OpenExchanges {
    private static final Duration STEP = Duration.ofMillis(5);

    private final Set<Exchange> open = ConcurrentHashMap.newKeySet();

    /// Those that go on when the sandbox comes back.
    private final Set<Exchange> followers = ConcurrentHashMap.newKeySet();

    private volatile boolean closed;

    /// Whether the exchange may go on; if so it is cut when {@link #cut} is called before it ends.
    boolean enter(Exchange exchange) {
        open.add(exchange);
        exchange.onEnd(() -> {
            open.remove(exchange);
            followers.remove(exchange);
        });
        if (closed) {
            open.remove(exchange);
            return false;
        }
        return true;
    }

    /// From now on it outlasts a moment without the sandbox.
    void follow(Exchange exchange) {
        followers.add(exchange);
        if (!open.contains(exchange)) {
            // It has just ended, or never entered.
            followers.remove(exchange);
        }
    }

    /// Nobody enters any more.
    void refuse() {
        closed = true;
    }

    /// Waits until all others have their answers, but not longer than that.
    void awaitOthers(Duration limit) {
        long end = System.nanoTime() + limit.toNanos();
        try {
            while (!followers.containsAll(open) && System.nanoTime() < end) {
                Thread.sleep(STEP);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /// Lets those go who will come back.
    void release() {
        open.removeAll(followers);
    }

    /// Cuts what is still open: clients must see a reset, as a clean end would look like an answer.
    void cut(String reason) {
        open.forEach(exchange -> exchange.abort(reason));
    }
}
