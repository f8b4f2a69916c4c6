package dev.cay.node.sandbox;

import dev.cay.http.Exchange;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/// The requests under way in one sandbox, so that its end can cut them. Thread-safe.
final class OpenExchanges {
    private static final Duration STEP = Duration.ofMillis(5);

    private final Set<Exchange> open = ConcurrentHashMap.newKeySet();

    /// Exchanges that continue when the sandbox is opened again.
    private final Set<Exchange> followers = ConcurrentHashMap.newKeySet();

    private volatile boolean closed;

    /// Registers an exchange, so that {@link #cut} ends it; false if no more are accepted.
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

    /// Marks an exchange that continues when the sandbox is opened again.
    void follow(Exchange exchange) {
        followers.add(exchange);
        if (!open.contains(exchange)) {
            // The exchange has just ended, or was never registered.
            followers.remove(exchange);
        }
    }

    /// Accepts no more exchanges.
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

    /// Forgets the exchanges that continue later, so that they are not cut.
    void release() {
        open.removeAll(followers);
    }

    /// Cuts all open exchanges: clients must see a reset, because a clean end would look like an answer.
    void cut(String reason) {
        open.forEach(exchange -> exchange.abort(reason));
    }
}
