package dev.cay.node.process;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.util.Collection;

/// How much of the node the processes of one sandbox may take.
final class ProcessLimits {
    private static final int MOST = 4096;

    /// Each holds descriptors of the node's, which are all sandboxes'.
    private static final int MOST_OPEN = 1024;

    /// What processes were started with is kept in memory while they can be listed.
    private static final int MOST_DESCRIBED = 16 << 20;

    private ProcessLimits() {}

    /// Refuses when there is no room for another one. Those that ended can be connected to for a while, so they count
    /// too, but hold no descriptors.
    static void require(Collection<SandboxProcess> processes) {
        long open = 0;
        long described = 0;
        for (var process : processes) {
            open += process.isOver() ? 0 : 1;
            described += process.described();
        }
        if (processes.size() >= MOST || open >= MOST_OPEN) {
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
}
