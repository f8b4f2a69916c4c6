package dev.cay.mcp.protocol;

import java.time.Duration;
import java.util.Optional;

/// Counts users of something, and measures how long there was none. Thread-safe.
public final class IdleTracker {
    private int present;
    private long idleSince = System.nanoTime();

    /// Must be followed by {@link #leave}.
    public synchronized void enter() {
        present++;
    }

    public synchronized void leave() {
        present--;
        idleSince = System.nanoTime();
    }

    /// Restarts the idle time, as if a user had just left.
    public synchronized void touch() {
        idleSince = System.nanoTime();
    }

    /// How long there was no user; empty while there is one.
    public synchronized Optional<Duration> idle() {
        return present > 0 ? Optional.empty() : Optional.of(Duration.ofNanos(System.nanoTime() - idleSince));
    }
}
