package dev.cay.node.sandbox;

import java.time.Duration;

/// Limits how often the node reconnects to a guest. Root inside can break the connection as often as it likes.
final class GuestLossLimit {
    private static final Duration SPAN = Duration.ofMinutes(1);
    private static final int MOST = 5;

    private long since;
    private int count;

    /// Counts one more.
    ///
    /// @return whether there were too many in a short time
    boolean tooMany() {
        long now = System.nanoTime();
        if (count == 0 || now - since > SPAN.toNanos()) {
            since = now;
            count = 0;
        }
        count++;
        return count > MOST;
    }
}
