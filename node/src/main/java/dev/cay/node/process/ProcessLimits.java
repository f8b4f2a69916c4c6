package dev.cay.node.process;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;

/// Limits of the node's resources for the processes of one sandbox. Thread-safe.
final class ProcessLimits {
    /// Most open processes: each holds descriptors of the node, which all sandboxes share.
    private static final int MOST_OPEN = 1024;

    /// Most bytes of command lines and environments, which are kept in memory while processes can be listed.
    private static final int MOST_DESCRIBED = 16 << 20;

    private int open;
    private long described;

    /// Fails if there is no room for another process.
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

    /// Counts a process that clients cannot connect to any more.
    synchronized void retired(int bytes) {
        described -= bytes;
    }
}
