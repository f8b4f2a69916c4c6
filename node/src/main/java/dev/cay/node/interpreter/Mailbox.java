package dev.cay.node.interpreter;

import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// Passes one event from the thread that reads a runner to its listener. It holds one event: a slow listener makes the
/// runner wait, and without a listener events are dropped.
final class Mailbox {
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private @Nullable RunnerEvent event;
    private RunnerEvent.@Nullable Over over;
    private boolean listening;
    private boolean busy;
    private boolean woken;

    /// Switches delivery on or off; earlier events are dropped.
    void listen(boolean on) {
        lock.lock();
        try {
            listening = on;
            event = null;
            busy = false;
            woken = false;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /// @return false when the one before was not taken for so long
    boolean put(RunnerEvent given, Duration limit) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            if (!await(() -> listening && event != null, limit)) {
                return false;
            }
            if (listening) {
                event = given;
                changed.signalAll();
            }
            return true;
        } finally {
            lock.unlock();
        }
    }

    /// @return whether the listener is done with all there was, or listens no more, within that time
    boolean awaitDone(Duration limit) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            return await(() -> listening && (event != null || busy), limit);
        } finally {
            lock.unlock();
        }
    }

    /// @return whether it is not so any more
    private boolean await(BooleanSupplier waiting, Duration limit) throws InterruptedException {
        long left = limit.toNanos();
        while (waiting.getAsBoolean() && left > 0) {
            left = changed.awaitNanos(left);
        }
        return !waiting.getAsBoolean();
    }

    /// Sets the final event, delivered whenever there is a listener.
    void end(RunnerEvent.Over given) {
        lock.lock();
        try {
            over = given;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /// Makes one {@link #take} return without an event.
    void wake() {
        lock.lock();
        try {
            woken = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    boolean isOver() {
        lock.lock();
        try {
            return over != null;
        } finally {
            lock.unlock();
        }
    }

    /// Takes an event. The call says that the previous event is processed.
    ///
    /// @return null when there was none within the limit, or after a wake-up
    @Nullable
    RunnerEvent take(Duration limit) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            busy = false;
            changed.signalAll();
            await(() -> event == null && over == null && !woken, limit);
            woken = false;
            if (event == null) {
                return over;
            }
            var taken = event;
            event = null;
            busy = true;
            changed.signalAll();
            return taken;
        } finally {
            lock.unlock();
        }
    }
}
