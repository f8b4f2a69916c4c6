package dev.cay.server.access;

import dev.cay.http.Exchange;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;

/// The requests that are being answered, with the API key or the operator's token that they came with. Thread-safe.
final class OpenRequests {
    /// @param thread that answers it
    private record Open(TeamKey key, Thread thread) {}

    private final Map<Exchange, Open> requests = new ConcurrentHashMap<>();

    /// With the fingerprints of their tokens.
    private final Map<Exchange, String> operators = new ConcurrentHashMap<>();

    /// Remembers a request that this thread answers, until it is removed.
    void add(TeamKey key, Exchange exchange) {
        requests.put(exchange, new Open(key, Thread.currentThread()));
    }

    /// The same for one with an operator's token.
    void addOperator(String fingerprint, Exchange exchange) {
        operators.put(exchange, fingerprint);
    }

    void remove(Exchange exchange) {
        requests.remove(exchange);
        operators.remove(exchange);
    }

    boolean hasOperators() {
        return !operators.isEmpty();
    }

    /// Cuts all of some keys, but for the request that asks for it.
    void cut(Predicate<TeamKey> which) {
        requests.forEach((exchange, open) -> {
            if (which.test(open.key()) && !open.thread().equals(Thread.currentThread())) {
                cut(exchange);
            }
        });
    }

    /// Cuts those with another operator's token than this one.
    void cutOperatorsBut(String fingerprint) {
        operators.forEach((exchange, other) -> {
            if (!other.equals(fingerprint)) {
                cut(exchange);
            }
        });
    }

    private static void cut(Exchange exchange) {
        exchange.abort("its key or token is not good any more");
    }
}
