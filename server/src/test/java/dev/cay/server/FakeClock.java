package dev.cay.server;

import dev.cay.life.MachineClock;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicReference;

/// Time that passes only when a test says so.
final class FakeClock implements MachineClock {
    private record Now(Instant wall, Duration sinceBoot) {}

    private final AtomicReference<Now> now =
            new AtomicReference<>(new Now(Instant.parse("2026-09-21T10:00:00Z"), Duration.ofDays(3)));

    @Override
    public Instant instant() {
        return now.get().wall();
    }

    @Override
    public Duration sinceBoot() {
        return now.get().sinceBoot();
    }

    /// Also what a machine that slept sees.
    void pass(Duration time) {
        now.updateAndGet(old -> new Now(old.wall().plus(time), old.sinceBoot().plus(time)));
    }

    /// Somebody sets the clock on the wall.
    void set(Duration forward) {
        now.updateAndGet(old -> new Now(old.wall().plus(forward), old.sinceBoot()));
    }
}
