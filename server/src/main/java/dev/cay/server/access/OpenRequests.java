package dev.cay.server.access;

import dev.cay.http.Exchange;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;

/// The requests that are being answered, with the API key they came with. Thread-safe.
final class OpenRequests {
    /// @param thread that answers it
    private record Open(TeamKey key, Thread thread) {}

    private final Map<Exchange, Open> requests = new ConcurrentHashMap<>();

    /// Remembers a request that this thread answers, until it is removed.
    void add(TeamKey key, Exchange exchange) {
        requests.put(exchange, new Open(key, Thread.currentThread()));
    }

    void remove(Exchange exchange) {
        requests.remove(exchange);
    }

    boolean isEmpty() {
        return requests.isEmpty();
    }

    /// Cuts all of some keys, but for the request that asks for it.
    void cut(Predicate<TeamKey> which) {
        requests.forEach((exchange, open) -> {
            if (which.test(open.key()) && !open.thread().equals(Thread.currentThread())) {
                exchange.abort("its key or token is not good any more");
            }
        });
    }
}
