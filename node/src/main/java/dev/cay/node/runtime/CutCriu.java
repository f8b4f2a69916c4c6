package dev.cay.node.runtime;

import java.util.Optional;
import java.util.Set;

/// Ends processes of a CRIU that was killed. Such a CRIU may leave processes it had begun to save or to restore. They
/// hold its end of the connection to runc, which then waits for ever. Used by one thread.
final class CutCriu {
    private static final String CRIU = "criu";

    /// A process with such a parent is at work.
    private static final Set<String> PARENTS = Set.of(CRIU, "runc");

    private final ProcessHandle runc;
    private boolean dead;

    CutCriu(ProcessHandle runc) {
        this.runc = runc;
    }

    /// Ends the rest when CRIU itself is gone; runc notices that in less than the time between two calls.
    void look() {
        boolean before = dead;
        dead = runc.children()
                .anyMatch(child -> criu(child).filter(ProcessStat::isDead).isPresent());
        if (before && dead) {
            runc.children().filter(CutCriu::lives).forEach(ProcessHandle::destroyForcibly);
            ProcessHandle.allProcesses()
                    .filter(process -> lives(process) && isOrphan(process))
                    .forEach(ProcessHandle::destroyForcibly);
        }
    }

    private static boolean lives(ProcessHandle process) {
        return criu(process).filter(stat -> !stat.isDead()).isPresent();
    }

    /// Whether the process belongs to this daemon's session, as runc does: CRIU processes of others are not touched.
    private boolean isOrphan(ProcessHandle process) {
        var session = ProcessStat.read(runc.pid()).map(ProcessStat::session);
        var parent = process.parent().flatMap(found -> ProcessStat.read(found.pid()));
        return session.equals(ProcessStat.read(process.pid()).map(ProcessStat::session))
                && parent.filter(stat -> PARENTS.contains(stat.name())).isEmpty();
    }

    private static Optional<ProcessStat> criu(ProcessHandle process) {
        return ProcessStat.read(process.pid()).filter(stat -> stat.name().equals(CRIU));
    }
}
