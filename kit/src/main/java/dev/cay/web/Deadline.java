package dev.cay.web;

import dev.cay.life.WaitLimits;
import java.io.Closeable;
import java.io.IOException;
import java.time.Duration;

/// Closes a resource when its deadline passes, which ends every wait on it. A limit for single reads is not enough: a
/// server that sends a byte now and then would keep the connection for ever.
public final class Deadline implements AutoCloseable {
    /// For all deadlines: most are cancelled after milliseconds, and a timer or a thread for each would cost more than
    /// some of the waits.
    private static final WaitLimits LIMITS = new WaitLimits();

    private final WaitLimits.Wait wait = this::look;
    private final Closeable target;
    private final long end;
    private volatile boolean passed;

    private Deadline(Duration limit, Closeable target) {
        this.target = target;
        this.end = System.nanoTime() + limit.toNanos();
    }

    /// The time runs from here on.
    public static Deadline start(Duration limit, Closeable target) {
        var deadline = new Deadline(limit, target);
        LIMITS.add(deadline.wait);
        return deadline;
    }

    public boolean passed() {
        return passed;
    }

    private void look(long now) {
        if (now - end >= 0 && !passed) {
            passed = true;
            LIMITS.remove(wait);
            // To close TLS can take a while.
            Thread.startVirtualThread(this::cut);
        }
    }

    private void cut() {
        try {
            target.close();
        } catch (IOException _) {
            // It is closed already.
        }
    }

    @Override
    public void close() {
        LIMITS.remove(wait);
    }
}
