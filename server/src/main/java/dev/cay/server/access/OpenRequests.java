package dev.cay.server.access;

import dev.cay.http.Exchange;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/// The requests that are being answered, by the id of the API key they came with. Thread-safe.
final class OpenRequests {
    /// With the thread that answers each.
    private final Map<String, Map<Exchange, Thread>> byKey = new ConcurrentHashMap<>();

    /// Remembers a request that this thread answers, until it is removed.
    void add(TeamKey key, Exchange exchange) {
        byKey.compute(key.id(), (_, known) -> {
            var open = known == null ? new ConcurrentHashMap<Exchange, Thread>() : known;
            open.put(exchange, Thread.currentThread());
            return open;
        });
    }

    void remove(TeamKey key, Exchange exchange) {
        byKey.computeIfPresent(key.id(), (_, open) -> {
            open.remove(exchange);
            return open.isEmpty() ? null : open;
        });
    }

    /// Cuts all of one key, but for the request that asks for it.
    void cut(String keyId) {
        var open = byKey.getOrDefault(keyId, Map.of());
        open.forEach((exchange, thread) -> {
            if (!thread.equals(Thread.currentThread())) {
                exchange.abort("the API key was revoked");
            }
        });
    }
}
