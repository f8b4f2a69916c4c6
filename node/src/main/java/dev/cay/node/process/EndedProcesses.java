package dev.cay.node.process;

import dev.cay.node.guest.Exit;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Ended processes that clients can still read to their end for a while. Thread-safe.
final class EndedProcesses {
    private static final Logger log = LoggerFactory.getLogger(EndedProcesses.class);

    /// Limit of ended processes; beyond it the oldest are removed early, so that many short commands are not refused.
    private static final int MOST = 1024;

    private final TableParts parts;
    private final Consumer<SandboxProcess> remove;
    private final Deque<SandboxProcess> kept = new ArrayDeque<>();

    /// @param remove removes a process whose time has passed
    EndedProcesses(TableParts parts, Consumer<SandboxProcess> remove) {
        this.parts = parts;
        this.remove = remove;
    }

    /// Adds a process. All its output is in the log and its exit in the folder, so the guest may close its copies at
    /// once: ended commands would otherwise hold descriptors.
    void add(SandboxProcess process, Exit exit) {
        parts.workers().logs().run(() -> {
            process.folder().writeExit(process.pid(), exit);
            Thread.startVirtualThread(() -> forget(process.pid()));
            return true;
        });
        keep(process);
    }

    /// Adds a process that ended before this table was made.
    void keep(SandboxProcess process) {
        parts.workers().poller().after(parts.settings().retention(), () -> retire(process));
        SandboxProcess oldest = addTo(process);
        if (oldest != null) {
            retire(oldest);
        }
    }

    private synchronized @Nullable SandboxProcess addTo(SandboxProcess process) {
        kept.addLast(process);
        return kept.size() > MOST ? kept.pollFirst() : null;
    }

    /// A guest need not answer: no thread that others wait for may come here.
    private void forget(int pid) {
        try {
            parts.guest().forget(pid);
        } catch (IOException e) {
            log.atDebug().setCause(e).addKeyValue("pid", pid).log("the guest did not remove an ended process");
        }
    }

    private void retire(SandboxProcess process) {
        if (parts.state().isClosed()) {
            return;
        }
        var stall = parts.settings().stall();
        process.audience().cutIdle(stall);
        if (!process.audience().isEmpty()) {
            parts.workers().poller().after(stall, () -> retire(process));
            return;
        }
        synchronized (this) {
            kept.remove(process);
        }
        remove.accept(process);
    }
}
