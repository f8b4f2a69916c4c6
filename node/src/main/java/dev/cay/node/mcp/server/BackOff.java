package dev.cay.node.mcp.server;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.time.Duration;
import java.util.function.LongSupplier;

/// Delays the restarts of a server that fails repeatedly. Thread-safe.
final class BackOff {
    /// A server that ran shorter counts as failed.
    private static final Duration SHORT = Duration.ofSeconds(10);

    private static final Duration LONG = Duration.ofMinutes(1);
    private static final Duration FIRST = Duration.ofSeconds(1);
    private static final Duration LONGEST = Duration.ofMinutes(1);
    private static final int DOUBLINGS = 6;

    private final LongSupplier nanos;
    private int failures;
    private long notBefore;
    private String reason = "";

    /// @param nanos the time, as {@link System#nanoTime} tells it
    BackOff(LongSupplier nanos) {
        this.nanos = nanos;
    }

    /// Counts an unexpected end.
    synchronized void failed(Duration lived, String why) {
        lived(lived);
        if (lived.compareTo(SHORT) >= 0) {
            return;
        }
        failures++;
        reason = why;
        if (failures > 1) {
            var pause = FIRST.multipliedBy(1L << Math.min(failures - 2, DOUBLINGS));
            notBefore = nanos.getAsLong() + (pause.compareTo(LONGEST) > 0 ? LONGEST : pause).toNanos();
        }
    }

    /// Resets the delay after a long run.
    synchronized void lived(Duration time) {
        if (time.compareTo(LONG) >= 0) {
            failures = 0;
        }
    }

    synchronized void succeeded() {
        failures = 0;
    }

    synchronized void require() {
        long left = notBefore - nanos.getAsLong();
        if (failures > 1 && left > 0) {
            throw new CayException(
                    ErrorKind.UNAVAILABLE,
                    "%s; it failed %d times in a row and is tried again in %d s"
                            .formatted(
                                    reason,
                                    failures,
                                    Duration.ofNanos(left).plusMillis(999).toSeconds()));
        }
    }
}
