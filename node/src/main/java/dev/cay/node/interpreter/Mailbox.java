package dev.cay.node.interpreter;

import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// One event on its way from the thread that reads a runner to the one that listens to it. Holds no second: who does
/// not listen fast enough makes the runner wait, and what nobody listens to is dropped.
final class Mailbox {
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private @Nullable RunnerEvent event;
    private RunnerEvent.@Nullable Over over;
    private boolean listening;
    private boolean woken;

    /// From now on events wait to be taken; those before are nobody's.
    void listen(boolean on) {
        lock.lock();
        try {
            listening = on;
            event = null;
            woken = false;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    void put(RunnerEvent given) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            while (listening && event != null) {
                changed.await();
            }
            if (listening) {
                event = given;
                changed.signalAll();
            }
        } finally {
            lock.unlock();
        }
    }

    /// The last that will be told, whenever somebody listens.
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

    /// @return null when there was none for so long, or somebody woke us
    @Nullable
    RunnerEvent take(Duration limit) throws InterruptedException {
        long left = limit.toNanos();
        lock.lockInterruptibly();
        try {
            while (event == null && over == null && !woken && left > 0) {
                left = changed.awaitNanos(left);
            }
            woken = false;
            if (event == null) {
                return over;
            }
            var taken = event;
            event = null;
            changed.signalAll();
            return taken;
        } finally {
            lock.unlock();
        }
    }
}
