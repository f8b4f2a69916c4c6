package dev.cay.life;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;

/// The time on the wall as it was when we began, carried on by the clock that nobody can set: two readings are always
/// as far apart as the time that passed between them.
///
/// When somebody sets the clock on the wall, {@link #jump} tells by how much, and {@link #follow} is called once
/// everything that was written down by the old time has been moved along.
public final class SteadyClock implements InstantSource {
    /// Less is left alone: time servers steer so much, and nobody notices.
    private static final Duration TOLERANCE = Duration.ofSeconds(2);

    private final MachineClock machine;
    private volatile Instant boot;

    public SteadyClock(MachineClock machine) {
        this.machine = machine;
        this.boot = machine.instant().minus(machine.sinceBoot());
    }

    @Override
    public Instant instant() {
        return boot.plus(machine.sinceBoot());
    }

    /// How far the clock on the wall has been set since, forward or back; zero when it was not.
    public Duration jump() {
        var difference = Duration.between(instant(), machine.instant());
        return difference.abs().compareTo(TOLERANCE) > 0 ? difference : Duration.ZERO;
    }

    public void follow(Duration jump) {
        boot = boot.plus(jump);
    }
}
