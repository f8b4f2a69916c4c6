package dev.cay.node.sandbox;

import dev.cay.http.EdgeAnswers;
import dev.cay.http.Exchange;
import dev.cay.life.TaskGroup;
import dev.cay.life.Undo;
import dev.cay.node.host.Slot;
import dev.cay.node.runtime.Container;
import dev.cay.node.runtime.ContainerSpec;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.NodeSandbox;
import dev.cay.wire.node.ResourceUse;
import dev.cay.wire.node.SandboxKind;
import dev.cay.wire.node.SandboxSpec;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Owns one sandbox. Everything that changes it runs on the keeper's one thread, in the order it was asked for;
/// traffic does not wait in that queue, it reads what is open now.
///
/// ```
///   start ─► STARTING ─► OPEN ──────────────► OVER
///   adopt ─►               │  ▲ guest lost ─┘  ▲
///                          │  └─ RESISTED ─────┘   the end is tried again
///                          └► LEFT                 the daemon stops, the sandbox runs on
/// ```
final class SandboxKeeper {
    private static final Logger log = LoggerFactory.getLogger(SandboxKeeper.class);
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private enum Stage {
        STARTING,
        OPEN,
        RESISTED,
        OVER,
        LEFT
    }

    private final Machine machine;
    private final Slot slot;
    private final Ended ended;
    private final ExecutorService thread;
    private final CreatePhases phases;
    private volatile SandboxNotes notes;
    private volatile @Nullable OpenSandbox open;
    private volatile Stage stage = Stage.STARTING;
    /// Somebody wants its end; a start that is under way gives up.
    private volatile boolean doomed;
    private @Nullable String reason;
    private final Losses losses = new Losses();

    /// Told when nothing is left of a sandbox.
    interface Ended {
        /// @param reason why, if it ended by itself
        void ended(SandboxKeeper keeper, @Nullable String reason);
    }

    SandboxKeeper(Machine machine, Slot slot, SandboxNotes notes, Ended ended) {
        this.machine = machine;
        this.slot = slot;
        this.notes = notes;
        this.ended = ended;
        this.phases = new CreatePhases(machine.meters());
        this.thread = Executors.newSingleThreadExecutor(
                Thread.ofVirtual().name("keeper-" + id().value()).factory());
    }

    SandboxId id() {
        return notes.spec().id();
    }

    SandboxKind kind() {
        return notes.spec().kind();
    }

    Slot slot() {
        return slot;
    }

    NodeSandbox view() {
        return new NodeSandbox(id(), notes.spec().templateId(), notes.startedAt(), null);
    }

    /// Whether there is more of it than a plan, and it is somebody's.
    boolean isThere() {
        return !isSpare() && (stage == Stage.OPEN || stage == Stage.RESISTED);
    }

    /// Whether it was started in advance and waits to be given to somebody.
    boolean isSpare() {
        return notes.spare();
    }

    /// Whether its end was tried and something would not go.
    boolean resisted() {
        return stage == Stage.RESISTED;
    }

    /// Whether somebody asked for its end.
    boolean doomed() {
        return doomed;
    }

    /// Builds the sandbox; when that fails nothing of it is left.
    void start() {
        try {
            ask("start", this::build);
        } catch (CayException e) {
            // It may be that only we have given up: then what goes on must end too.
            doomed = true;
            throw e;
        }
    }

    private @Nullable Void build() throws Exception {
        try (var undo = new Undo()) {
            undo.step(this::removeAll);
            long began = System.nanoTime();
            note(notes);
            var spec = prepare(notes.spec());
            began = phases.done("prepare", began);
            var container = machine.runtime().start(spec);
            requireWanted();
            began = phases.done("container", began);
            open(container);
            note(notes.nowReady());
            phases.done("guest", began);
            requireWanted();
            stage = Stage.OPEN;
            undo.keep();
        }
        return null;
    }

    /// The disk is made by another program, which need not be waited for while the rest is gathered.
    private ContainerSpec prepare(SandboxSpec spec) throws Exception {
        requireWanted();
        List<Path> layers = new ArrayList<>();
        try (var tasks = new TaskGroup()) {
            tasks.run(() -> machine.pool().create(id(), spec.resources().diskSizeMB()));
            machine.network().attach(slot, spec.internetAccess());
            layers.add(machine.layers()
                    .require(machine.nodeLayer().require(spec.layers().getLast())));
            spec.layers().forEach(key -> layers.add(machine.layers().require(key)));
            tasks.join(LIMIT);
        }
        requireWanted();
        var writable = machine.pool().layer(id());
        return new ContainerSpec(id(), slot, spec.resources(), machine.maxProcesses(), layers, writable, id().value());
    }

    private void requireWanted() {
        if (doomed) {
            throw new CayException(ErrorKind.CANCELED, "sandbox %s was killed while it started".formatted(id()));
        }
    }

    private void note(SandboxNotes changed) {
        changed.write(machine.records());
        notes = changed;
    }

    /// Gives a spare sandbox to somebody: from now on it is the one that was asked for.
    void give(SandboxSpec spec) {
        ask("be given away", () -> {
            var now = open;
            requireStage();
            requireWanted();
            // Its end may be seconds old and not yet have come to us.
            if (now == null || machine.runtime().find(id()).isEmpty()) {
                throw notRunning();
            }
            machine.network().attach(slot, spec.internetAccess());
            note(notes.given(spec, machine.clock().instant()));
            now.become(spec);
            return null;
        });
    }

    /// Takes up a sandbox that runs already.
    void adopt(Container container) {
        ask("adopt", () -> {
            machine.network().attach(slot, notes.spec().internetAccess());
            open(container);
            stage = Stage.OPEN;
            return null;
        });
    }

    /// Returns when the sandbox is open, after whoever starts it.
    void awaitOpen() {
        ask("open", () -> {
            requireStage();
            return null;
        });
    }

    /// Ends the sandbox and removes all of it, also one that is just starting. Doing so twice is fine.
    void end() {
        doomed = true;
        refuseTraffic();
        askIfThere("end", this::removeAll);
    }

    /// Lets go of the sandbox, which runs on, because the daemon stops. One that was not open yet is taken back.
    void leave() {
        if (stage == Stage.STARTING) {
            doomed = true;
        }
        askIfThere("leave", () -> {
            if (stage == Stage.OPEN) {
                close();
                stage = Stage.LEFT;
            }
            thread.shutdown();
        });
    }

    void setInternetAccess(boolean allowed) {
        ask("network", () -> {
            requireStage();
            note(notes.withInternetAccess(allowed));
            machine.network().setInternetAccess(slot, allowed);
            return null;
        });
    }

    ResourceUse measure() {
        var now = open;
        if (now == null) {
            throw notRunning();
        }
        return now.measure();
    }

    /// What it uses, if it is open; on a platform thread.
    Optional<ResourceUse> measure(long diskUsed) {
        var now = open;
        return now == null ? Optional.empty() : Optional.of(now.measure(diskUsed));
    }

    void serve(int port, Exchange exchange) throws Exception {
        var now = open;
        if (now == null || isSpare()) {
            EdgeAnswers.sandboxNotFound(exchange, id().value());
            return;
        }
        now.serve(port, exchange);
    }

    private void requireStage() {
        if (stage != Stage.OPEN) {
            throw notRunning();
        }
    }

    private CayException notRunning() {
        return new CayException(ErrorKind.NOT_FOUND, "sandbox %s is not running".formatted(id()));
    }

    private void open(Container container) throws IOException {
        open = new OpenSandbox(machine, notes.spec(), slot, container, this::guestLost);
    }

    /// On the poller's thread: the work is the keeper's.
    private void guestLost() {
        try {
            thread.execute(this::recover);
        } catch (RejectedExecutionException e) {
            // It is over, or left to the next daemon.
        }
    }

    private void recover() {
        if (stage != Stage.OPEN) {
            return;
        }
        close();
        reason = tryAgain();
        if (reason != null) {
            try {
                removeAll();
            } catch (RuntimeException e) {
                log.atError().setCause(e).addKeyValue("sandbox", id()).log("an ended sandbox resists its removal");
            }
        }
    }

    /// @return why the sandbox must end, or null when it is open again
    private @Nullable String tryAgain() {
        try {
            var container = machine.runtime().find(id());
            if (container.isEmpty()) {
                return machine.runtime().memoryKills(id()) > 0
                        ? "its first process ended, after it had run out of memory"
                        : "its first process ended";
            }
            if (losses.tooMany()) {
                return "its guest was lost again and again";
            }
            open(container.get());
            return null;
        } catch (IOException | RuntimeException e) {
            return "its guest does not answer: " + e.getMessage();
        }
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

    private void removeAll() {
        if (stage == Stage.OVER || stage == Stage.LEFT) {
            return;
        }
        stage = Stage.RESISTED;
        close();
        remove(machine, id(), slot);
        stage = Stage.OVER;
        thread.shutdown();
        ended.ended(this, reason);
    }

    /// Takes a sandbox from the host, whatever there is of it: first the container, then what it stood on, at
    /// last what is known of it. Stops at the first step that fails, as what is still used must not be given to
    /// another one; the notes stay, so that it can be tried again.
    static void remove(Machine machine, SandboxId id, @Nullable Slot slot) {
        machine.runtime().delete(id);
        if (slot != null) {
            machine.network().detach(slot);
        }
        machine.pool().delete(id);
        SandboxNotes.delete(machine.records(), id);
        if (slot != null) {
            machine.plan().release(slot);
        }
    }

    /// Nothing is to be done for one that is over.
    private void askIfThere(String what, Runnable action) {
        try {
            ask(what, () -> {
                action.run();
                return null;
            });
        } catch (CayException e) {
            if (!(e.getCause() instanceof RejectedExecutionException)) {
                throw e;
            }
        }
    }

    private <T extends @Nullable Object> T ask(String what, Callable<T> action) {
        try {
            return thread.submit(action).get(LIMIT.toNanos(), TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException e) {
            throw new CayException(ErrorKind.NOT_FOUND, "sandbox %s is not running".formatted(id()), e);
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
