package dev.cay.life;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// A program that is held up between the readings of two clocks does not take that for a clock that was set.
@Fast
class SteadyClockTest {
    private final StallingMachine machine = new StallingMachine();

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void beginsWithTheTimeOnTheWallWhateverHoldsItUp(int stalls) {
        machine.stalls = stalls;
        var clock = new SteadyClock(machine);
        assertThat(clock.instant()).isEqualTo(machine.wall);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 1000})
    void aStallIsNoJump(int stalls) {
        var clock = new SteadyClock(machine);
        machine.stalls = stalls;
        assertThat(clock.jump()).isZero();
        machine.stalls = 0;
        assertThat(clock.jump()).isZero();
        assertThat(clock.instant()).isEqualTo(machine.wall);
    }

    @Test
    void tellsWhenTheClockWasSetAndFollows() {
        var clock = new SteadyClock(machine);
        machine.wall = machine.wall.minusSeconds(3600);
        machine.stalls = 1;
        assertThat(clock.jump()).isEqualTo(Duration.ofHours(-1));
        clock.follow(clock.jump());
        assertThat(clock.instant()).isEqualTo(machine.wall);
    }

    @Test
    void staysNoMoreThanAMomentOffTheWall() {
        var clock = new SteadyClock(machine);
        machine.wall = machine.wall.plusMillis(400);
        assertThat(clock.jump()).isZero();
        machine.wall = machine.wall.plusMillis(1380);
        assertThat(clock.jump()).isEqualTo(Duration.ofMillis(1780));
    }

    /// Stops the program for 1.8 s after each reading of either clock, as often as asked for.
    private static final class StallingMachine implements MachineClock {
        private static final Duration STALL = Duration.ofMillis(1800);
        private Instant wall = Instant.parse("2026-09-21T10:00:00Z");
        private Duration sinceBoot = Duration.ofDays(3);
        private int stalls;

        @Override
        public Instant instant() {
            var read = wall;
            stall();
            return read;
        }

        @Override
        public Duration sinceBoot() {
            var read = sinceBoot;
            stall();
            return read;
        }

        private void stall() {
            if (stalls > 0) {
                stalls--;
                wall = wall.plus(STALL);
                sinceBoot = sinceBoot.plus(STALL);
            }
        }
    }
}
