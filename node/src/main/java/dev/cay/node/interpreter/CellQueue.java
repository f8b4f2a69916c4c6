package dev.cay.node.interpreter;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.BooleanSupplier;

/// A FIFO lock. A waiting caller may give up; otherwise it keeps its place. Thread-safe.
final class CellQueue {
    private static final Duration LOOK = Duration.ofSeconds(1);

    private final Deque<Object> queue = new ArrayDeque<>();

    /// Waits for the caller's turn; {@link #leave} must follow.
    ///
    /// @param givenUp polled during the wait, and once more at its end
    /// @return false, without a turn, if the caller gave up
    synchronized boolean take(BooleanSupplier givenUp) throws InterruptedException {
        var me = new Object();
        queue.addLast(me);
        try {
            while (!me.equals(queue.peekFirst()) && !givenUp.getAsBoolean()) {
                wait(LOOK.toMillis());
            }
        } catch (InterruptedException e) {
            remove(me);
            throw e;
        }
        if (givenUp.getAsBoolean()) {
            remove(me);
            return false;
        }
        return true;
    }

    /// Ends the turn. Called by its holder.
    synchronized void leave() {
        queue.removeFirst();
        notifyAll();
    }

    private void remove(Object one) {
        queue.remove(one);
        notifyAll();
    }
}
