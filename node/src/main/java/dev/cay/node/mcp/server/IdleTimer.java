package dev.cay.node.mcp.server;

import dev.cay.node.linux.FdPoller;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// Runs an action when a server was unused for a while. Thread-safe.
final class IdleTimer {
    private final FdPoller poller;
    private final Duration limit;
    private final Runnable work;
    private FdPoller.@Nullable Timer timer;

    /// @param work may block
    IdleTimer(FdPoller poller, Duration limit, Runnable work) {
        this.poller = poller;
        this.limit = limit;
        this.work = work;
    }

    /// Starts the timer again.
    ///
    /// @param idle whether the server is still unused
    synchronized void begin(BooleanSupplier idle) {
        forget();
        if (idle.getAsBoolean()) {
            timer = poller.after(
                    limit, () -> Thread.ofVirtual().name("server-idle").start(work));
        }
    }

    synchronized void forget() {
        if (timer != null) {
            timer.cancel();
            timer = null;
        }
    }
}
