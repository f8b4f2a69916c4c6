package dev.cay.life;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;

/// The wall clock time at the start, advanced by the monotonic clock: two readings always differ by the time that
/// passed between them.
///
/// After the wall clock was set, {@link #jump} returns by how much, and {@link #follow} is called once all recorded
/// times were moved.
///
/// The two clocks are compared by reading one after the other, and this process may be suspended in between: only a
/// comparison that took next to no time counts.
public final class SteadyClock implements InstantSource {
    /// Smaller jumps are ignored: time servers correct by that much, and it makes no difference.
    private static final Duration TOLERANCE = Duration.ofMillis(500);

    /// How long a comparison may take: well below the tolerance.
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

    /// How far the wall clock has been set since, forward or back; zero when it was not, or when the machine is too
    /// busy to tell now.
    public Duration jump() {
        var now = compare();
        var difference = Duration.between(boot, now.boot());
        return now.isExact() && difference.abs().compareTo(TOLERANCE) > 0 ? difference : Duration.ZERO;
    }

    public void follow(Duration jump) {
        boot = boot.plus(jump);
    }

    /// The wall clock time at which the machine was started.
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
