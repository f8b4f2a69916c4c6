package dev.cay.life;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/// The clocks of a machine whose programs are held up between any two steps.
@Fast
class SystemClockTest {
    private static final long SECOND = Duration.ofSeconds(1).toNanos();

    private long nanos = 5 * SECOND;
    private long uptime = 100 * SECOND;
    private long heldUp;
    private int times;
    private boolean afterReading;

    @Test
    void aStallWhileTheClocksAreReadIsNoSleep() {
        var clock = clock();
        stall(3 * SECOND, 1);
        assertThat(clock.sinceBoot()).isEqualTo(Duration.ofSeconds(103));
        assertThat(clock.sinceBoot()).isEqualTo(Duration.ofSeconds(103));
    }

    @Test
    void stallsInEveryReadingAreNoSleepEither() {
        var clock = clock();
        stall(3 * SECOND, 100);
        clock.sinceBoot();
        stall(0, 0);
        assertThat(clock.sinceBoot()).isEqualTo(Duration.ofNanos(uptime));
    }

    @Test
    void aStallWhenItBeginsHidesNoSleep() {
        stall(3 * SECOND, 1);
        var clock = clock();
        uptime += 2 * SECOND;
        assertThat(clock.sinceBoot()).isEqualTo(Duration.ofNanos(uptime));
    }

    @Test
    void sleepCounts() {
        var clock = clock();
        nanos += 10 * SECOND;
        uptime += 40 * SECOND;
        assertThat(clock.sinceBoot()).isEqualTo(Duration.ofSeconds(140));
    }

    @Test
    void sleepThatCannotBeToldAtOnceCountsLater() {
        var clock = clock();
        uptime += 40 * SECOND;
        stall(2 * SECOND, 100);
        clock.sinceBoot();
        stall(0, 0);
        assertThat(clock.sinceBoot()).isEqualTo(Duration.ofNanos(uptime));
    }

    @Test
    void sleepIsToldAtOnceWhenOnlyOneReadingIsHeldUp() {
        var clock = clock();
        uptime += 40 * SECOND;
        stall(2 * SECOND, 1);
        assertThat(clock.sinceBoot()).isEqualTo(Duration.ofNanos(uptime));
    }

    /// Such a short one would never be taken for sleep later, and the clock would stay behind for good.
    @Test
    void aShortStallBetweenTheReadingsMakesNoSleepShorter() {
        var clock = clock();
        afterReading = true;
        uptime += 40 * SECOND;
        stall(SECOND * 9 / 10, 100);
        clock.sinceBoot();
        stall(0, 0);
        assertThat(clock.sinceBoot()).isEqualTo(Duration.ofNanos(uptime));
    }

    @Test
    void aShortStallWhenItBeginsDoesNotSetItBack() {
        afterReading = true;
        stall(SECOND * 9 / 10, 1);
        assertThat(clock().sinceBoot()).isEqualTo(Duration.ofNanos(uptime));
    }

    private SystemClock clock() {
        return new SystemClock(() -> nanos, this::readUptime);
    }

    private void stall(long length, int readings) {
        heldUp = length;
        times = readings;
    }

    /// The process is stopped just before it reads, or just after, and time goes on.
    private long readUptime() {
        long read = uptime;
        if (times > 0) {
            times--;
            nanos += heldUp;
            uptime += heldUp;
        }
        return afterReading ? read : uptime;
    }
}
