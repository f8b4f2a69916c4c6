package dev.cay.node.interpreter;

import java.time.Duration;

/// Interrupts a runner again and again, whatever it says meanwhile. By one thread.
final class Stopping {
    /// An interrupt is repeated as often: the first may have met a moment in which it was not heard.
    static final Duration AGAIN = Duration.ofSeconds(1);

    /// Who does not stop for so long is killed.
    private static final Duration STUBBORN = Duration.ofSeconds(10);

    private final Runner runner;
    private final long began = System.nanoTime();
    private long next;

    /// @param grace until the first interrupt
    Stopping(Runner runner, Duration grace) {
        this.runner = runner;
        this.next = began + grace.toNanos();
    }

    /// Interrupts it if it is time to.
    ///
    /// @return false for one that does not stop and is to be killed
    boolean goOn() {
        long now = System.nanoTime();
        if (now - began > STUBBORN.toNanos()) {
            return false;
        }
        if (now - next >= 0) {
            next = now + AGAIN.toNanos();
            runner.interrupt();
        }
        return true;
    }
}
