package dev.cay.node.process;

import dev.cay.node.guest.Exit;
import dev.cay.node.guest.GuestException;
import dev.cay.node.guest.GuestLink;
import dev.cay.node.guest.GuestProcess;
import dev.cay.node.guest.SilentGuestException;
import dev.cay.node.guest.Streams;
import dev.cay.node.linux.Errno;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/// The processes that were started in one sandbox. Thread-safe.
///
/// Order: `new`, {@link #adopt}, use, {@link #close}; then close the link. A table never outlives its link: after a
/// checkpoint or a restart of the daemon a new one on the same directory goes on where the old one stopped. For a copy
/// of a sandbox, copy the directory too while its table is closed.
public final class ProcessTable implements AutoCloseable {
    /// Hears of processes as they come and go, on any thread; must not block.
    public interface Watcher {
        void started(Launch launch, int pid);

        void ended(SandboxProcess process, Exit exit);
    }

    static final Duration FILE_LIMIT = Duration.ofSeconds(20);
    private static final int MAX_EARLY = 256;

    private final Path directory;
    private final GuestLink link;
    private final Workers workers;
    private final ProcessSettings settings;
    private final Map<Integer, SandboxProcess> processes = new ConcurrentHashMap<>();
    /// With those whose pid has another owner by now.
    private final Set<SandboxProcess> held = ConcurrentHashMap.newKeySet();
    /// Exits told before the answer that names the process was looked at.
    private final Map<Integer, Exit> early = new LinkedHashMap<>();
    private final AtomicLong numbers = new AtomicLong();
    private final ProcessLimits limits = new ProcessLimits();
    private final EndedProcesses ended = new EndedProcesses(this);
    private final SharedTerminals terminals;
    private @Nullable Cursors cursors;
    private volatile Consumer<String> onLost = _ -> {};
    private volatile @Nullable Watcher watcher;
    private volatile LongSupplier memoryKills = () -> 0;
    private volatile boolean closed;
    private volatile boolean replaced;

    /// @param directory of this sandbox alone, best on a tmpfs as output passes through it; made if missing
    public ProcessTable(Path directory, GuestLink link, Workers workers, ProcessSettings settings) {
        this.directory = directory;
        this.link = link;
        this.workers = workers;
        this.settings = settings;
        this.terminals = new SharedTerminals(workers, this::lost);
    }

    /// Told, on the poller's thread, when the guest is gone or cannot be trusted: the sandbox should be ended.
    public void onLost(Consumer<String> action) {
        onLost = action;
    }

    public void watch(Watcher watcher) {
        this.watcher = watcher;
    }

    /// Where to learn how many processes of the sandbox the kernel has killed for lack of memory. Before
    /// {@link #adopt}; asked on threads where files may be read.
    public void countMemoryKills(LongSupplier counter) {
        memoryKills = counter;
    }

    /// Takes over what runs in the sandbox already; nothing in a new one.
    public void adopt() throws IOException {
        adopt(_ -> true);
    }

    /// @param ours tells commands from what others started over the same link
    public void adopt(Predicate<GuestProcess> ours) throws IOException {
        link.listen(new GuestLink.Listener() {
            @Override
            public void exited(int pid, Exit exit) {
                ProcessTable.this.exited(pid, exit);
            }

            @Override
            public void lost(String reason) {
                ProcessTable.this.lost(reason);
            }
        });
        var found = link.list().stream().filter(ours).toList();
        workers.logs().call(FILE_LIMIT, () -> new Adoption(this, directory).run(found));
    }

    /// Starts a process; the caller is subscribed from its first byte on.
    public Subscription start(Launch launch) throws IOException {
        requireOpen();
        limits.require();
        var folder = ProcessFolder.in(directory, numbers.incrementAndGet());
        var logs = logs(folder, launch.terminal() != null);
        var begun = workers.logs().call(FILE_LIMIT, () -> Begun.of(folder, launch, memoryKills.getAsLong(), logs));
        try {
            var streams = spawn(launch, folder.number());
            var process = register(folder, begun.about(), begun.logs(), streams.pid(), streams);
            if (watcher != null) {
                watcher.started(launch, process.pid());
            }
            var subscription = Subscription.to(process);
            process.begin();
            settleEarly(process);
            process.killAt(begun.about().deadline());
            return subscription;
        } catch (IOException | RuntimeException e) {
            workers.logs().run(() -> {
                begun.close();
                return true;
            });
            throw e;
        }
    }

    private Streams spawn(Launch launch, long number) throws IOException {
        try {
            return link.spawn(launch.spawn(Long.toString(number)));
        } catch (GuestException e) {
            if (e.what().equals("chdir") && e.errno() == Errno.ENOENT) {
                throw new CayException(
                        ErrorKind.INVALID_ARGUMENT, "cwd '%s' does not exist".formatted(launch.cwd()), e);
            }
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT,
                    "error starting process '%s': %s".formatted(launch.command().getFirst(), e.getMessage()),
                    e);
        } catch (SilentGuestException e) {
            throw new CayException(ErrorKind.UNAVAILABLE, "the sandbox does not start processes: " + e.getMessage(), e);
        }
    }

    /// A process that runs, or ended a moment ago.
    public Optional<SandboxProcess> find(Selector selector) {
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

    public SandboxProcess require(Selector selector) {
        return find(selector).orElseThrow(() -> notFound(selector));
    }

    /// One that is not over yet; what is over can be followed to its end once more, and nothing else.
    public SandboxProcess requireAlive(Selector selector) {
        return find(selector).filter(process -> !process.isOver()).orElseThrow(() -> notFound(selector));
    }

    /// Those that run.
    public List<SandboxProcess> list() {
        return processes.values().stream().filter(SandboxProcess::running).toList();
    }

    /// Gives back every borrowed descriptor and cuts subscribers off; the processes run on.
    @Override
    public void close() {
        close(false);
    }

    /// The same, but subscribers are only told that they must go on at another table.
    public void closeForAnother() {
        close(true);
    }

    /// Whether another table goes on with these processes, for those who follow one.
    public boolean isReplaced() {
        return replaced;
    }

    private void close(boolean another) {
        synchronized (this) {
            if (closed) {
                return;
            }
            replaced = another;
            closed = true;
        }
        var reason = new CayException(ErrorKind.UNAVAILABLE, "the sandbox is being stopped");
        held.forEach(process -> {
            process.audience().cutAll(reason, !another);
            process.release();
        });
        held.clear();
        processes.clear();
        if (cursors != null) {
            cursors.close();
        }
    }

    private static CayException notFound(Selector selector) {
        return switch (selector) {
            case Selector.Pid(int pid) -> notFound(pid);
            case Selector.Tag(String tag) ->
                new CayException(ErrorKind.NOT_FOUND, "process with tag %s not found".formatted(tag));
        };
    }

    static CayException notFound(int pid) {
        return new CayException(ErrorKind.NOT_FOUND, "process with pid %d not found".formatted(pid));
    }

    Workers workers() {
        return workers;
    }

    SharedTerminals terminals() {
        return terminals;
    }

    ProcessSettings settings() {
        return settings;
    }

    long memoryKills() {
        return memoryKills.getAsLong();
    }

    GuestLink link() {
        return link;
    }

    boolean isClosed() {
        return closed;
    }

    void requireOpen() {
        if (closed) {
            throw new CayException(ErrorKind.UNAVAILABLE, "the sandbox is being stopped");
        }
    }

    Cursors cursors() {
        if (cursors == null) {
            throw new IllegalStateException("adopt comes first");
        }
        return cursors;
    }

    /// @param next the first number that no folder has
    void open(Cursors cursors, long next) {
        this.cursors = cursors;
        numbers.set(next);
    }

    Map<Channel, OutputLog> logs(ProcessFolder folder, boolean terminal) {
        return OutputLog.logs(folder.path(), settings.logBytes(), terminal);
    }

    /// The same, with what an earlier daemon wrote. File work.
    Map<Channel, OutputLog> recoverLogs(ProcessFolder folder, boolean terminal) throws IOException {
        return OutputLog.recover(folder.path(), settings.logBytes(), terminal);
    }

    /// @param streams null for a process that is over
    SandboxProcess register(
            ProcessFolder folder,
            ProcessFolder.About about,
            Map<Channel, OutputLog> logs,
            int pid,
            @Nullable Streams streams) {
        var process = new SandboxProcess(this, folder, about, pid, logs, streams);
        synchronized (this) {
            if (closed) {
                process.release();
                requireOpen();
            }
            // A pid that comes again means that its last owner is over.
            processes.put(pid, process);
            held.add(process);
            limits.began(process.described());
        }
        return process;
    }

    void signal(int pid, int signal) {
        try {
            link.signal(pid, signal);
        } catch (GuestException e) {
            throw e.errno() == Errno.ESRCH || e.errno() == Errno.ENOENT
                    ? notFound(pid)
                    : new CayException(ErrorKind.INTERNAL, "cannot send the signal: " + e.getMessage(), e);
        } catch (IOException e) {
            throw new CayException(ErrorKind.UNAVAILABLE, "the sandbox does not answer", e);
        }
    }

    void resize(SandboxProcess process, Launch.TerminalSize size) {
        if (!process.terminal()) {
            throw new CayException(ErrorKind.FAILED, "tty not assigned to process");
        }
        try {
            link.resize(process.pid(), size.columns(), size.rows());
        } catch (SilentGuestException e) {
            throw new CayException(ErrorKind.UNAVAILABLE, "the sandbox does not answer", e);
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "cannot resize the terminal: " + e.getMessage(), e);
        }
    }

    private void exited(int pid, Exit exit) {
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

    /// After the process is registered and began.
    void settleEarly(SandboxProcess process) {
        Exit exit;
        synchronized (this) {
            exit = early.remove(process.pid());
        }
        if (exit != null) {
            process.exited(exit);
        }
    }

    void lost(String reason) {
        if (!closed) {
            onLost.accept(reason);
        }
    }

    void ended(SandboxProcess process, Exit exit) {
        if (closed) {
            return;
        }
        limits.ended();
        if (watcher != null) {
            watcher.ended(process, exit);
        }
        ended.add(process, exit);
    }

    /// It can still be connected to for a while.
    void retain(SandboxProcess process) {
        limits.ended();
        ended.keep(process);
    }

    /// Forgets it, and all it printed. Once.
    void remove(SandboxProcess process) {
        if (!process.retire()) {
            return;
        }
        processes.remove(process.pid(), process);
        held.remove(process);
        limits.retired(process.described());
        process.release();
        discard(process.folder());
    }

    void discard(ProcessFolder folder) {
        workers.logs().run(() -> {
            folder.delete();
            return true;
        });
    }
}
