package dev.cay.server.people;

import dev.cay.wire.CayException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/// Limits how often one address may show a wrong secret. A good one is never refused for the wrong ones of others:
/// whole offices have one address, and so have all people behind a proxy. Thread-safe.
final class Attempts {
    private static final int MOST = 20;
    private static final Duration WINDOW = Duration.ofMinutes(10);

    /// Of addresses that are remembered.
    private static final int MOST_ADDRESSES = 10_000;

    private record Wrong(int count, Instant end) {}

    private final InstantSource clock;
    private final Map<String, Wrong> byAddress = new ConcurrentHashMap<>();

    Attempts(InstantSource clock) {
        this.clock = clock;
    }

    /// @throws CayException if this address was wrong too often
    void wrong(String address) {
        var now = clock.instant();
        if (byAddress.size() >= MOST_ADDRESSES) {
            byAddress.values().removeIf(known -> !known.end().isAfter(now));
        }
        if (byAddress.size() >= MOST_ADDRESSES) {
            byAddress.clear();
        }
        var wrong = byAddress.compute(
                address,
                (_, known) -> known == null || !known.end().isAfter(now)
                        ? new Wrong(1, now.plus(WINDOW))
                        : new Wrong(known.count() + 1, known.end()));
        if (wrong.count() > MOST) {
            throw CayException.exhausted(
                    "too many wrong attempts from your address; try again in %d minutes".formatted(WINDOW.toMinutes()),
                    Duration.between(now, wrong.end()));
        }
    }
}
