package dev.cay.http;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// Interrupts the thread of a streaming call when its time is up or its client has gone, and never after the call.
final class CallWatch implements AutoCloseable {
    private final Thread call = Thread.currentThread();
    private @Nullable Thread timer;
    private boolean over;
    private boolean late;
    private boolean alone;

    CallWatch(Exchange exchange, @Nullable Duration timeout) {
        if (timeout != null) {
            timer = Thread.ofVirtual().start(() -> interruptAfter(timeout));
        }
        exchange.onEnd(this::clientGone);
    }

    /// Whether the call was interrupted because its time was up.
    synchronized boolean late() {
        return late;
    }

    /// Whether nobody reads the answer any more.
    synchronized boolean alone() {
        return alone;
    }

    /// The call is over: what comes now must not interrupt whatever the thread does next.
    @Override
    public void close() {
        synchronized (this) {
            over = true;
            if (late || alone) {
                Thread.interrupted();
            }
        }
        if (timer != null) {
            timer.interrupt();
        }
    }

    private void interruptAfter(Duration timeout) {
        try {
            Thread.sleep(timeout);
        } catch (InterruptedException e) {
            return;
        }
        synchronized (this) {
            if (!over) {
                late = true;
                call.interrupt();
            }
        }
    }

    private synchronized void clientGone() {
        if (!over) {
            alone = true;
            call.interrupt();
        }
    }
}
