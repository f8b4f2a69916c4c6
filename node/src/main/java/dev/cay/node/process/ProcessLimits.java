package dev.cay.node.process;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;

/// How much of the node the processes of one sandbox may take. Thread-safe.
final class ProcessLimits {
    /// Each holds descriptors of the node's, which are all sandboxes'.
    private static final int MOST_OPEN = 1024;

    /// What processes were started with is kept in memory while they can be listed.
    private static final int MOST_DESCRIBED = 16 << 20;

    private int open;
    private long described;

    /// Refuses when there is no room for another one.
    synchronized void require() {
        if (open >= MOST_OPEN) {
            throw new CayException(
                    ErrorKind.EXHAUSTED, "a sandbox has at most %d commands at a time".formatted(MOST_OPEN));
        }
        if (described >= MOST_DESCRIBED) {
            throw new CayException(
                    ErrorKind.EXHAUSTED,
                    "arguments and variables of this sandbox's commands take more than %d MB; wait for some to end"
                            .formatted(MOST_DESCRIBED >> 20));
        }
    }

    /// @param bytes of its arguments and variables
    synchronized void began(int bytes) {
        open++;
        described += bytes;
    }

    synchronized void ended() {
        open--;
    }

    /// It can no longer be connected to.
    synchronized void retired(int bytes) {
        described -= bytes;
    }
}
