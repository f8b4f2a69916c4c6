package dev.cay.node.runtime;

import java.util.Optional;

/// A CRIU that was killed may leave processes it had begun to bring back. They hold its end of the connection to runc,
/// which waits for an answer as long as anybody does. Used by one thread.
final class CutCriu {
    private static final String NAME = "criu";

    private final ProcessHandle runc;
    private boolean dead;

    CutCriu(ProcessHandle runc) {
        this.runc = runc;
    }

    /// Ends what is left when CRIU itself is gone; runc takes note of that in less than the time between two looks.
    void look() {
        boolean before = dead;
        dead = runc.children()
                .anyMatch(child -> criu(child).filter(ProcessStat::isDead).isPresent());
        if (before && dead) {
            runc.children()
                    .filter(child -> criu(child).filter(stat -> !stat.isDead()).isPresent())
                    .forEach(ProcessHandle::destroyForcibly);
        }
    }

    private static Optional<ProcessStat> criu(ProcessHandle process) {
        return ProcessStat.read(process.pid()).filter(stat -> stat.name().equals(NAME));
    }
}
