package dev.cay.node.mcp;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/// Limits the messages that a server sends without being asked. Used by the thread that reads the server, which then
/// reads more slowly, until the server has to wait.
final class NotificationLimit {
    private static final int MOST_AT_ONCE = 500;
    private static final int A_SECOND = 100;
    private static final Duration REST = Duration.ofMillis(10);

    private double left = MOST_AT_ONCE;
    private long last = System.nanoTime();

    /// Whether one more is passed on; takes its time if not.
    boolean allows() {
        long now = System.nanoTime();
        left = Math.min(MOST_AT_ONCE, left + (now - last) * 1e-9 * A_SECOND);
        last = now;
        if (left < 1) {
            LockSupport.parkNanos(REST.toNanos());
            return false;
        }
        left--;
        return true;
    }
}
