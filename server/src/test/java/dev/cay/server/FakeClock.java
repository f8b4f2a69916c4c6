package dev.cay.server;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.atomic.AtomicReference;

/// Time that passes only when a test says so.
final class FakeClock implements InstantSource {
    private final AtomicReference<Instant> now = new AtomicReference<>(Instant.parse("2026-09-21T10:00:00Z"));

    @Override
    public Instant instant() {
        return now.get();
    }

    void pass(Duration time) {
        now.updateAndGet(instant -> instant.plus(time));
    }
}
