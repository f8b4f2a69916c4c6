package dev.cay.runner;

import org.jspecify.annotations.Nullable;

/// Ends a busy cell. Every loop and every method of a cell asks here whether it should go on; see [StopChecks].
///
/// Public because the classes of cells call it.
public final class Stop {
    private static volatile @Nullable ThreadGroup stopping;

    private Stop() {}

    /// Goes on, or throws when the cell that this thread belongs to was interrupted.
    public static void check() {
        var group = stopping;
        if (group != null) {
            decide(group);
        }
    }

    static void order(ThreadGroup group) {
        stopping = group;
    }

    static void clear() {
        stopping = null;
    }

    /// Threads that earlier cells left running are none of this interrupt's business. Threads of no cell (of the common
    /// pool, virtual ones) most likely work for the one that runs.
    private static void decide(ThreadGroup group) {
        for (var own = Thread.currentThread().getThreadGroup(); own != null; own = own.getParent()) {
            if (group.equals(own)) {
                throw new CellStopped();
            }
            if (own instanceof CellThreads) {
                return;
            }
        }
        throw new CellStopped();
    }
}
