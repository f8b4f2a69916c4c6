package dev.cay.node.interpreter;

import java.time.Duration;

/// Interrupts a runner repeatedly until its cell has ended. Used by one thread.
final class Stopping {
    /// Time between interrupts: the first may have come when the runner could not handle it.
    static final Duration AGAIN = Duration.ofSeconds(1);

    /// A runner that does not stop within this time is killed.
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
