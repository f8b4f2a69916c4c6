package dev.cay.node.process;

import dev.cay.node.guest.Exit;
import dev.cay.node.guest.GuestLink;
import dev.cay.node.guest.GuestProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/// The processes that were started in one sandbox. Thread-safe.
///
/// Order: `new`, {@link #adopt}, use, {@link #close}; then close the link. A table never outlives its link: after a
/// checkpoint or a restart of the daemon a new one on the same directory continues. For a copy of a sandbox, copy the
/// directory too while its table is closed.
public final class ProcessTable implements AutoCloseable {
    /// Receives starts and ends of processes, on any thread; must not block.
    public interface Watcher {
        void started(Launch launch, int pid);

        void ended(SandboxProcess process, Exit exit);
    }

    private final Path directory;
    private final GuestLink link;
    private final TableParts parts;
    private final KnownProcesses known;
    private final AtomicLong numbers = new AtomicLong();
    private volatile Consumer<String> onLost = _ -> {};
    private volatile @Nullable Watcher watcher;
    private volatile LongSupplier memoryKills = () -> 0;

    /// @param directory of this sandbox alone, best on a tmpfs as output passes through it; made if missing
    public ProcessTable(Path directory, GuestLink link, Workers workers, ProcessSettings settings) {
        this.directory = directory;
        this.link = link;
        this.parts = new TableParts(
                new GuestRequests(link),
                workers,
                settings,
                new TableState(),
                new SharedTerminals(workers, this::lost),
                () -> memoryKills.getAsLong());
        this.known = new KnownProcesses(parts, this::ended);
    }

    /// Sets the action for a lost guest, called on the poller's thread when the guest is gone or cannot be trusted.
    public void onLost(Consumer<String> action) {
        onLost = action;
    }

    public void watch(Watcher watcher) {
        this.watcher = watcher;
    }

    /// Sets the counter of processes that the kernel has killed for lack of memory. Call this before {@link #adopt};
    /// the counter is called on threads that may read files.
    public void countMemoryKills(LongSupplier counter) {
        memoryKills = counter;
    }

    /// Takes over what runs in the sandbox already; nothing in a new one.
    public void adopt() throws IOException {
        adopt(_ -> true);
    }

    /// @param ours distinguishes commands from processes that other parts of the node started over the same link
    public void adopt(Predicate<GuestProcess> ours) throws IOException {
        link.listen(new GuestLink.Listener() {
            @Override
            public void exited(int pid, Exit exit) {
                known.exited(pid, exit);
            }

            @Override
            public void lost(String reason) {
                ProcessTable.this.lost(reason);
            }
        });
        var found = link.list().stream().filter(ours).toList();
        parts.workers()
                .logs()
                .call(Workers.FILE_LIMIT, () -> new Adoption(parts, known, directory, numbers).run(found));
    }

    /// Starts a process; the caller is subscribed from its first byte on.
    public Subscription start(Launch launch) throws IOException {
        parts.state().requireOpen();
        known.requireRoom();
        var logThreads = parts.workers().logs();
        var folder = ProcessFolder.in(directory, numbers.incrementAndGet());
        var logs = OutputLog.logs(folder.path(), parts.settings().logBytes(), launch.terminal() != null);
        var begun = logThreads.call(
                Workers.FILE_LIMIT, () -> ProcessSetup.of(folder, launch, memoryKills.getAsLong(), logs));
        try {
            var streams = parts.guest().spawn(launch, folder.number());
            var process = known.register(folder, begun.about(), begun.logs(), streams.pid(), streams);
            if (watcher != null) {
                watcher.started(launch, process.pid());
            }
            var subscription = Subscription.to(process);
            process.begin();
            known.settleEarly(process);
            process.killAt(begun.about().deadline());
            return subscription;
        } catch (IOException | RuntimeException e) {
            logThreads.run(() -> {
                begun.close();
                return true;
            });
            throw e;
        }
    }

    /// A process that runs, or ended recently.
    public Optional<SandboxProcess> find(Selector selector) {
        return known.find(selector);
    }

    public SandboxProcess require(Selector selector) {
        return find(selector).orElseThrow(selector::notFound);
    }

    /// A process that has not ended; an ended one can only be read to its end.
    public SandboxProcess requireAlive(Selector selector) {
        return find(selector).filter(process -> !process.isOver()).orElseThrow(selector::notFound);
    }

    /// The running processes.
    public List<SandboxProcess> list() {
        return known.running();
    }

    /// Gives back every borrowed descriptor and cuts subscribers off; the processes run on.
    @Override
    public void close() {
        known.close(false);
    }

    /// Closes the table and tells subscribers to continue at another one.
    public void closeForAnother() {
        known.close(true);
    }

    private void lost(String reason) {
        if (!parts.state().isClosed()) {
            onLost.accept(reason);
        }
    }

    private void ended(SandboxProcess process, Exit exit) {
        if (watcher != null) {
            watcher.ended(process, exit);
        }
    }
}
