package dev.cay.node.mcp.remote;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// How far a stream was read, and when it may be asked for again. Used by one thread.
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

    /// False if the thread was interrupted meanwhile.
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
