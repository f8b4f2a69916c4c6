package dev.cay.node.sandbox;

import dev.cay.http.EdgeAnswers;
import dev.cay.http.Exchange;
import dev.cay.life.Undo;
import dev.cay.node.host.Slot;
import dev.cay.node.runtime.Container;
import dev.cay.node.runtime.ContainerSpec;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.NodeSandbox;
import dev.cay.wire.node.ResourceUse;
import dev.cay.wire.node.SandboxSpec;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/// Owns one sandbox. Everything that changes it runs on the keeper's one thread, in the order it was asked for;
/// traffic does not wait in that queue, it reads what is open now.
///
/// ```
///   start ─► open ──────────► end
///   adopt ─►  │ guest lost: open again while the container lives, otherwise end
/// ```
final class SandboxKeeper {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final Machine machine;
    private final Slot slot;
    private final Ended ended;
    private final ExecutorService thread;
    private volatile SandboxNotes notes;
    private volatile @Nullable OpenSandbox open;
    private boolean over;

    /// Told when a sandbox has ended by itself.
    interface Ended {
        void ended(SandboxKeeper keeper, String reason);
    }

    SandboxKeeper(Machine machine, Slot slot, SandboxNotes notes, Ended ended) {
        this.machine = machine;
        this.slot = slot;
        this.notes = notes;
        this.ended = ended;
        this.thread = Executors.newSingleThreadExecutor(
                Thread.ofVirtual().name("keeper-" + id().value()).factory());
    }

    SandboxId id() {
        return notes.spec().id();
    }

    Slot slot() {
        return slot;
    }

    NodeSandbox view() {
        return new NodeSandbox(id(), notes.spec().templateId(), notes.startedAt());
    }

    /// Builds the sandbox; when that fails nothing of it is left.
    void start() {
        try (var undo = new Undo()) {
            undo.step(thread::shutdown);
            ask("start", this::build);
            undo.keep();
        }
    }

    private @Nullable Void build() throws IOException {
        try (var undo = new Undo()) {
            undo.step(this::removeAll);
            note(notes);
            var spec = notes.spec();
            Path writable = machine.pool().create(id(), spec.resources().diskSizeMB());
            machine.network().attach(slot, spec.internetAccess());
            open(machine.runtime().start(containerSpec(spec, writable)));
            note(notes.nowReady());
            undo.keep();
        }
        return null;
    }

    private void note(SandboxNotes changed) {
        changed.write(machine.records());
        notes = changed;
    }

    /// Takes up a sandbox that runs already.
    void adopt(Container container) {
        ask("adopt", () -> {
            machine.network().attach(slot, notes.spec().internetAccess());
            open(container);
            return null;
        });
    }

    /// Ends the sandbox and removes all of it. Doing so twice is fine.
    void end() {
        refuseTraffic();
        ask("end", () -> {
            removeAll();
            return null;
        });
        thread.shutdown();
    }

    /// Lets go of the sandbox, which runs on, because the daemon stops.
    void leave() {
        ask("leave", () -> {
            close();
            over = true;
            return null;
        });
        thread.shutdown();
    }

    void setInternetAccess(boolean allowed) {
        ask("network", () -> {
            note(notes.withInternetAccess(allowed));
            machine.network().setInternetAccess(slot, allowed);
            return null;
        });
    }

    ResourceUse measure() {
        var now = open;
        if (now == null) {
            throw new CayException(ErrorKind.NOT_FOUND, "sandbox %s is not running".formatted(id()));
        }
        return now.measure();
    }

    void serve(int port, Exchange exchange) throws Exception {
        var now = open;
        if (now == null) {
            EdgeAnswers.sandboxNotFound(exchange, id().value());
            return;
        }
        now.serve(port, exchange);
    }

    private ContainerSpec containerSpec(SandboxSpec spec, Path writable) {
        List<Path> layers = new ArrayList<>();
        layers.add(machine.layers()
                .require(machine.nodeLayer().require(spec.layers().getLast())));
        spec.layers().forEach(key -> layers.add(machine.layers().require(key)));
        return new ContainerSpec(id(), slot, spec.resources(), machine.maxProcesses(), layers, writable, id().value());
    }

    private void open(Container container) throws IOException {
        open = new OpenSandbox(machine, notes.spec(), slot, container, this::guestLost);
    }

    /// On the poller's thread: the work is the keeper's.
    private void guestLost() {
        if (!thread.isShutdown()) {
            thread.execute(this::recover);
        }
    }

    private void recover() {
        if (over) {
            return;
        }
        close();
        var container = machine.runtime().find(id());
        if (container.isPresent()) {
            try {
                open(container.get());
                return;
            } catch (IOException | RuntimeException e) {
                removeAll();
                ended.ended(this, "its guest does not answer: " + e.getMessage());
                return;
            }
        }
        removeAll();
        ended.ended(this, "its first process ended");
    }

    private void close() {
        var now = open;
        open = null;
        if (now != null) {
            now.close();
        }
    }

    /// At once and from any thread, so that clients who are cut find the sandbox gone when they look.
    private void refuseTraffic() {
        var now = open;
        if (now != null) {
            now.refuse();
        }
    }

    /// In this order each step also cleans up what a crash left of the ones before it.
    private void removeAll() {
        if (over) {
            return;
        }
        over = true;
        close();
        remove(machine, id(), slot);
    }

    /// Takes a sandbox from the host, whatever there is of it.
    static void remove(Machine machine, SandboxId id, @Nullable Slot slot) {
        try (var steps = new Undo()) {
            // Newest first: the container goes before what it stands on.
            if (slot != null) {
                steps.step(() -> machine.plan().release(slot));
            }
            steps.step(() -> SandboxNotes.delete(machine.records(), id));
            steps.step(() -> machine.pool().delete(id));
            if (slot != null) {
                steps.step(() -> machine.network().detach(slot));
            }
            steps.step(() -> machine.runtime().delete(id));
        }
    }

    private <T extends @Nullable Object> T ask(String what, Callable<T> action) {
        try {
            return thread.submit(action).get(LIMIT.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            throw new CayException(
                    ErrorKind.UNAVAILABLE, "sandbox %s did not %s within %s".formatted(id(), what, LIMIT), e);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof CayException known
                    ? known
                    : new CayException(
                            ErrorKind.INTERNAL, "sandbox %s could not %s".formatted(id(), what), e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CayException(ErrorKind.CANCELED, "interrupted", e);
        }
    }
}
