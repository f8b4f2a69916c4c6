package dev.cay.node.interpreter;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.BooleanSupplier;

/// One at a time, in the order they came. Who waits may give up; who does not keeps its place, however often it looks.
/// Thread-safe.
final class CellQueue {
    private static final Duration LOOK = Duration.ofSeconds(1);

    private final Deque<Object> queue = new ArrayDeque<>();

    /// Returns when it is the caller's turn, who must {@link #leave} then.
    ///
    /// @param givenUp asked now and then, and once more at the end
    /// @return false, and nothing to leave, for one who gave up
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

    /// By whoever has the turn.
    synchronized void leave() {
        queue.removeFirst();
        notifyAll();
    }

    private void remove(Object one) {
        queue.remove(one);
        notifyAll();
    }
}
