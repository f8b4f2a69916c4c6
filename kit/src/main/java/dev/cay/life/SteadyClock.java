package dev.cay.life;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;

/// The time on the wall as it was when we began, carried on by the clock that nobody can set: two readings are always
/// as far apart as the time that passed between them.
///
/// When somebody sets the clock on the wall, {@link #jump} tells by how much, and {@link #follow} is called once
/// everything that was written down by the old time has been moved along.
///
/// The two clocks are compared by reading one after the other, and this process may be held up in between: only a
/// comparison that took next to no time counts.
public final class SteadyClock implements InstantSource {
    /// Less is left alone: time servers steer so much, and nobody notices.
    private static final Duration TOLERANCE = Duration.ofMillis(500);

    /// How long a comparison may take: well below what is tolerated.
    private static final Duration MOMENT = Duration.ofMillis(50);

    private static final int TRIES = 10;

    private final MachineClock machine;
    private volatile Instant boot;

    public SteadyClock(MachineClock machine) {
        this.machine = machine;
        this.boot = compare().boot();
    }

    @Override
    public Instant instant() {
        return boot.plus(machine.sinceBoot());
    }

    /// How far the clock on the wall has been set since, forward or back; zero when it was not, or when that cannot be
    /// told now because the machine is too busy.
    public Duration jump() {
        var now = compare();
        var difference = Duration.between(boot, now.boot());
        return now.isExact() && difference.abs().compareTo(TOLERANCE) > 0 ? difference : Duration.ZERO;
    }

    public void follow(Duration jump) {
        boot = boot.plus(jump);
    }

    /// When the machine was started by the clock on the wall.
    ///
    /// @param took how long the comparison of the two clocks took
    private record Comparison(Instant boot, Duration took) {
        private boolean isExact() {
            return took.compareTo(MOMENT) <= 0;
        }
    }

    /// The quickest of a few, unless one is quick enough.
    private Comparison compare() {
        var best = compareOnce();
        for (int i = 1; i < TRIES && !best.isExact(); i++) {
            var next = compareOnce();
            best = next.took().compareTo(best.took()) < 0 ? next : best;
        }
        return best;
    }

    private Comparison compareOnce() {
        Duration before = machine.sinceBoot();
        Instant wall = machine.instant();
        Duration after = machine.sinceBoot();
        return new Comparison(wall.minus(after), after.minus(before));
    }
}
