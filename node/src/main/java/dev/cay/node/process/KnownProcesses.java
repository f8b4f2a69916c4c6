package dev.cay.node.process;

import dev.cay.node.guest.Exit;
import dev.cay.node.guest.Streams;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/// The running processes of a table, and those that ended recently. Thread-safe.
final class KnownProcesses implements SandboxProcess.Owner {
    private static final int MAX_EARLY = 256;

    private final TableParts parts;
    private final BiConsumer<SandboxProcess, Exit> onEnd;
    private final Map<Integer, SandboxProcess> processes = new ConcurrentHashMap<>();
    /// All held processes, also those whose pid was reused.
    private final Set<SandboxProcess> held = ConcurrentHashMap.newKeySet();
    /// Exits that were reported before the answer that names the process was processed.
    private final Map<Integer, Exit> early = new LinkedHashMap<>();
    private final ProcessLimits limits = new ProcessLimits();
    private final EndedProcesses ended;

    /// @param onEnd told of processes that ended, on any thread; must not block
    KnownProcesses(TableParts parts, BiConsumer<SandboxProcess, Exit> onEnd) {
        this.parts = parts;
        this.onEnd = onEnd;
        this.ended = new EndedProcesses(parts, this::remove);
    }

    /// Fails if the limit of processes is reached.
    void requireRoom() {
        limits.require();
    }

    /// @param streams null for an ended process
    SandboxProcess register(
            ProcessFolder folder,
            ProcessFolder.About about,
            Map<Channel, OutputLog> logs,
            int pid,
            @Nullable Streams streams) {
        var process = new SandboxProcess(parts, this, folder, about, pid, logs, streams);
        synchronized (this) {
            if (parts.state().isClosed()) {
                process.release();
                parts.state().requireOpen();
            }
            // A reused pid means that its previous process has ended.
            processes.put(pid, process);
            held.add(process);
            limits.began(process.described());
        }
        return process;
    }

    Optional<SandboxProcess> find(Selector selector) {
        return switch (selector) {
            case Selector.Pid(int pid) -> Optional.ofNullable(processes.get(pid));
            case Selector.Tag(String tag) ->
                processes.values().stream()
                        .filter(process -> process.info().hasTag()
                                && process.info().getTag().equals(tag))
                        .max(Comparator.comparing(SandboxProcess::running)
                                .thenComparingLong(process -> process.folder().number()));
        };
    }

    /// The running processes.
    List<SandboxProcess> running() {
        return processes.values().stream().filter(SandboxProcess::running).toList();
    }

    /// Handles the guest's report that a process has ended.
    void exited(int pid, Exit exit) {
        SandboxProcess process;
        synchronized (this) {
            process = processes.get(pid);
            if (process == null || !process.awaitsExit()) {
                process = null;
                early.put(pid, exit);
                if (early.size() > MAX_EARLY) {
                    early.remove(early.keySet().iterator().next());
                }
            }
        }
        if (process != null) {
            process.exited(exit);
        }
    }

    /// Handles an exit that was reported before the process was registered.
    void settleEarly(SandboxProcess process) {
        Exit exit;
        synchronized (this) {
            exit = early.remove(process.pid());
        }
        if (exit != null) {
            process.exited(exit);
        }
    }

    @Override
    public void ended(SandboxProcess process, Exit exit) {
        if (parts.state().isClosed()) {
            return;
        }
        limits.ended();
        onEnd.accept(process, exit);
        ended.add(process, exit);
    }

    @Override
    public void retain(SandboxProcess process) {
        limits.ended();
        ended.keep(process);
    }

    /// Forgets it, and all it printed. Once.
    private void remove(SandboxProcess process) {
        if (!process.retire()) {
            return;
        }
        processes.remove(process.pid(), process);
        held.remove(process);
        limits.retired(process.described());
        process.release();
        parts.workers().logs().run(() -> {
            process.folder().delete();
            return true;
        });
    }

    /// Closes every borrowed descriptor and disconnects subscribers; the processes run on.
    ///
    /// @param another whether another table continues with them
    void close(boolean another) {
        synchronized (this) {
            if (!parts.state().close(another)) {
                return;
            }
        }
        var reason = new CayException(ErrorKind.UNAVAILABLE, "the sandbox is being stopped");
        held.forEach(process -> {
            process.audience().cutAll(reason, !another);
            process.release();
        });
        held.clear();
        processes.clear();
        parts.state().closeCursors();
    }
}
