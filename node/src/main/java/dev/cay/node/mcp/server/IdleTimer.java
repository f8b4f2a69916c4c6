package dev.cay.node.mcp.server;

import dev.cay.node.linux.FdPoller;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// Does something when nobody needed a server for a while. Thread-safe.
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

    /// Begins to wait, and forgets what it waited for before.
    ///
    /// @param idle whether there is a reason to wait
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
