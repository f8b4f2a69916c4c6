package dev.cay.connect;

import dev.cay.http.Exchange;
import java.time.Duration;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/// Interrupts the thread of a streaming call when its time is up or its client has gone, and never after the call.
final class CallWatch implements AutoCloseable {
    private final Thread call = Thread.currentThread();
    private final @Nullable Future<?> timer;
    private boolean over;
    private boolean late;
    private boolean alone;

    CallWatch(Exchange exchange, @Nullable Duration timeout) {
        timer = timeout == null ? null : exchange.after(timeout, this::timeUp);
        exchange.onEnd(this::clientGone);
    }

    /// Whether the call was interrupted because its time was up.
    synchronized boolean late() {
        return late;
    }

    /// Whether the client has disconnected.
    synchronized boolean alone() {
        return alone;
    }

    /// Ends the watch with the call: a later event must not interrupt the thread's next work.
    @Override
    public void close() {
        synchronized (this) {
            over = true;
            if (late || alone) {
                Thread.interrupted();
            }
        }
        if (timer != null) {
            timer.cancel(false);
        }
    }

    private synchronized void timeUp() {
        if (!over) {
            late = true;
            call.interrupt();
        }
    }

    private synchronized void clientGone() {
        if (!over) {
            alone = true;
            call.interrupt();
        }
    }
}
