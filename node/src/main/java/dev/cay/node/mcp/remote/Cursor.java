package dev.cay.node.mcp.remote;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// The position in a stream, and the time of the next reconnect. Used by one thread.
final class Cursor {
    private static final Duration USUAL = Duration.ofSeconds(1);
    private static final Duration LONGEST = Duration.ofSeconds(30);

    private @Nullable String id;
    private Duration retry = USUAL;

    @Nullable
    String id() {
        return id;
    }

    void move(EventStream events) {
        if (events.lastId() != null) {
            id = events.lastId();
        }
        if (events.retry() != null) {
            retry = events.retry();
        }
    }

    /// Waits before a reconnect; false if the thread was interrupted.
    boolean await(int failures) {
        var wait = retry.multipliedBy(1L << Math.min(failures, 5));
        try {
            Thread.sleep(wait.compareTo(LONGEST) < 0 ? wait : LONGEST);
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
