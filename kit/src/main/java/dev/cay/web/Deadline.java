package dev.cay.web;

import java.io.Closeable;
import java.io.IOException;
import java.time.Duration;

/// Closes a resource when its deadline passes, which ends every wait on it. A limit for single reads is not enough: a
/// server that sends a byte now and then would keep the connection for ever.
public final class Deadline implements AutoCloseable {
    private final Thread waiting;
    private volatile boolean passed;

    private Deadline(Duration limit, Closeable target) {
        waiting = Thread.ofVirtual().unstarted(() -> {
            try {
                Thread.sleep(limit);
                passed = true;
                target.close();
            } catch (InterruptedException | IOException _) {
                // The deadline was cancelled, or the resource is closed already.
            }
        });
    }

    /// The time runs from here on.
    public static Deadline start(Duration limit, Closeable target) {
        var deadline = new Deadline(limit, target);
        deadline.waiting.start();
        return deadline;
    }

    public boolean passed() {
        return passed;
    }

    @Override
    public void close() {
        waiting.interrupt();
    }
}
