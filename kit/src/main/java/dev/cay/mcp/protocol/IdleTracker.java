package dev.cay.mcp.protocol;

import java.time.Duration;
import java.util.Optional;

/// Who is here, and since when nobody is. Thread-safe.
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

    /// As if somebody had been here just now.
    public synchronized void touch() {
        idleSince = System.nanoTime();
    }

    /// How long nobody was here; nothing while somebody is.
    public synchronized Optional<Duration> idle() {
        return present > 0 ? Optional.empty() : Optional.of(Duration.ofNanos(System.nanoTime() - idleSince));
    }
}
