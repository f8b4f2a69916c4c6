package dev.cay.node.sandbox;

import dev.cay.http.EdgeAnswers;
import dev.cay.http.Exchange;
import dev.cay.life.Undo;
import dev.cay.node.host.Slot;
import dev.cay.node.runtime.Container;
import dev.cay.node.snapshot.Snapshot;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.Keep;
import dev.cay.wire.node.NodeSandbox;
import dev.cay.wire.node.ResourceUse;
import dev.cay.wire.node.SandboxKind;
import dev.cay.wire.node.SandboxSpec;
import dev.cay.wire.node.Saved;
import java.io.IOException;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Owns one sandbox. Everything that changes it runs on the keeper's one thread, in the order it was asked for;
/// traffic does not wait in that queue, it reads what is open now.
///
/// ```
///   start ─► STARTING ─► OPEN ──────────────► OVER
///   adopt ─►            │ ▲│  ▲ guest lost ─┘  ▲
///                 pause │ ││  └─ RESISTED ─────┘   the end is tried again
///                       ▼ ││resume
///   adopt ─►          PAUSED└► LEFT                 the daemon stops, the sandbox runs on
/// ```
final class SandboxKeeper {
    private static final Logger log = LoggerFactory.getLogger(SandboxKeeper.class);
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final Duration SAVE_LIMIT = Duration.ofMinutes(6);

    private enum Stage {
        STARTING,
        OPEN,
        PAUSED,
        RESISTED,
        OVER,
        LEFT
    }

    private final Machine machine;
    private final Premises premises;
    private final Ended ended;
    private final Turns turns;
    private final CreatePhases phases;
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

    /// @param slot null for one that is paused
    SandboxKeeper(Machine machine, @Nullable Slot slot, SandboxNotes notes, Ended ended) {
        this.machine = machine;
        this.premises = new Premises(machine, notes, slot);
        this.ended = ended;
        this.phases = new CreatePhases(machine.meters());
        this.turns = new Turns(notes.spec().id());
    }

    SandboxId id() {
        return notes().spec().id();
    }

    SandboxKind kind() {
        return notes().spec().kind();
    }

    @Nullable
    Slot slot() {
        return premises.slot();
    }

    private SandboxNotes notes() {
        return premises.notes();
    }

    NodeSandbox view() {
        var saved = stage == Stage.PAUSED ? notes().saved() : null;
        return new NodeSandbox(id(), notes().spec().templateId(), notes().startedAt(), saved);
    }

    /// Whether there is more of it than a plan, and it is somebody's.
    boolean isThere() {
        return !isSpare() && (stage == Stage.OPEN || stage == Stage.PAUSED || stage == Stage.RESISTED);
    }

    boolean isPaused() {
        return stage == Stage.PAUSED;
    }

    /// Whether it lies in the snapshot of this name, or is just about to.
    boolean liesIn(String snapshot) {
        return notes().snapshot().equals(snapshot);
    }

    /// Whether it was started in advance and waits to be given to somebody.
    boolean isSpare() {
        return notes().spare();
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
            turns.ask("start", notes().spec().snapshot() == null ? LIMIT : SAVE_LIMIT, this::build);
        } catch (CayException e) {
            // It may be that only we have given up: then what goes on must end too.
            doomed = true;
            throw e;
        }
    }

    private @Nullable Void build() throws Exception {
        try (var undo = new Undo()) {
            undo.step(this::removeAll);
            requireWanted();
            premises.note(notes());
            long began = System.nanoTime();
            var container = premises.begin();
            requireWanted();
            began = phases.done("container", began);
            open(container);
            premises.note(notes().nowReady());
            phases.done("guest", began);
            requireWanted();
            stage = Stage.OPEN;
            undo.keep();
        }
        return null;
    }

    private void requireWanted() {
        if (doomed) {
            throw new CayException(ErrorKind.CANCELED, "sandbox %s was killed while it started".formatted(id()));
        }
    }

    /// Gives a spare sandbox to somebody: from now on it is the one that was asked for.
    void give(SandboxSpec spec) {
        turns.ask("be given away", LIMIT, () -> {
            var now = open;
            requireOpen();
            requireWanted();
            // Its end may be seconds old and not yet have come to us.
            if (now == null || machine.runtime().find(id()).isEmpty()) {
                throw notRunning();
            }
            machine.network().attach(premises.requireSlot(), spec.internetAccess());
            premises.note(notes().given(spec, machine.clock().instant()));
            now.become(spec);
            return null;
        });
    }

    /// Takes up a sandbox that runs already, or has just come back. A saving that a crash cut short is forgotten.
    void adopt() {
        turns.ask("adopt", SAVE_LIMIT, () -> {
            machine.network().attach(premises.requireSlot(), notes().spec().internetAccess());
            switch (notes().phaseNow()) {
                case RUNNING -> open(machine.runtime().find(id()).orElseThrow(this::notRunning));
                case SAVING -> {
                    open(premises.mend());
                    premises.note(notes().running(notes().startedAt()));
                }
                case PAUSED, RESUMING -> {
                    open(machine.runtime().find(id()).orElseThrow(this::notRunning));
                    nowRuns();
                }
            }
            stage = Stage.OPEN;
            return null;
        });
    }

    /// Takes up a paused one. Whatever is left of its container goes.
    void adoptPaused() {
        stage = Stage.PAUSED;
        turns.later(() -> {
            machine.runtime().settle(id());
            if (notes().phaseNow() == SandboxNotes.Phase.RESUMING) {
                premises.vacate();
                premises.note(notes().paused(savedNow()));
            } else if (premises.slot() != null) {
                settle(notes().snapshot());
            }
        });
    }

    /// Returns when the sandbox is open, after whoever starts it.
    void awaitOpen() {
        turns.ask("open", LIMIT, () -> {
            requireOpen();
            return null;
        });
    }

    /// Saves it and takes it off the machine.
    Saved pause(Keep keep) {
        return turns.ask("be paused", SAVE_LIMIT, () -> {
            if (stage == Stage.PAUSED) {
                return savedNow();
            }
            becomePaused(keep);
            settle(notes().snapshot());
            return savedNow();
        });
    }

    private void becomePaused(Keep keep) {
        premises.note(notes().nextGeneration());
        var snapshot = save(notes().snapshot(), keep);
        premises.note(notes().paused(snapshot.saved()));
        stage = Stage.PAUSED;
    }

    /// Saves it while it goes on.
    Saved snapshot(String name, Keep keep) {
        return turns.ask("be saved", SAVE_LIMIT, () -> {
            var snapshot = save(name, keep);
            goOn(premises::thaw);
            return snapshot.saved();
        });
    }

    /// Leaves it closed and frozen; when it fails, as it was.
    private Snapshot save(String name, Keep keep) {
        requireOpen();
        requireWanted();
        refuseTraffic();
        close();
        try {
            return premises.save(name, keep);
        } catch (RuntimeException e) {
            goOn(premises::mend);
            throw e;
        }
    }

    private void goOn(Supplier<Container> how) {
        try {
            open(how.get());
            premises.note(notes().running(notes().startedAt()));
        } catch (IOException | RuntimeException e) {
            log.atError().setCause(e).addKeyValue("sandbox", id()).log("a sandbox does not go on after it was saved");
            recover();
        }
    }

    /// The original stays until the disk has what was saved: a machine that loses power must not lose both.
    private void settle(String snapshot) {
        machine.snapshots()
                .afterSync(() -> turns.later(() -> {
                    if (stage == Stage.PAUSED && premises.slot() != null && liesIn(snapshot)) {
                        premises.vacate();
                    }
                }));
    }

    /// Whether its original is still there because the disk had not all of it.
    boolean unsettled() {
        return stage == Stage.PAUSED && premises.slot() != null;
    }

    void settleAgain() {
        settle(notes().snapshot());
    }

    /// Returns when nothing of a paused sandbox is left but what was saved.
    void awaitSettled() {
        turns.askIfThere("settle", SAVE_LIMIT, () -> {
            if (unsettled()) {
                machine.snapshots().sync();
                premises.vacate();
            }
        });
    }

    /// Lets a paused sandbox go on.
    NodeSandbox resume(boolean memory) {
        return turns.ask("be resumed", SAVE_LIMIT, () -> {
            if (stage != Stage.OPEN) {
                requirePaused();
                var snapshot = machine.snapshots().require(notes().snapshot());
                boolean whole = memory && snapshot.hasMemory();
                if (!(whole && unsettled() && thawOriginal())) {
                    bringTwice(snapshot, whole);
                }
                nowRuns();
            }
            return view();
        });
    }

    /// Nothing of it has been taken away yet, so nothing needs to be brought back.
    private boolean thawOriginal() {
        if (machine.runtime().find(id()).isEmpty()) {
            return false;
        }
        try {
            open(premises.thaw());
            return true;
        } catch (IOException | RuntimeException e) {
            log.atWarn().setCause(e).addKeyValue("sandbox", id()).log("a frozen sandbox does not thaw; it is restored");
            return false;
        }
    }

    /// What fails once may work the second time; after that the sandbox is as paused as it was.
    private void bringTwice(Snapshot snapshot, boolean memory) {
        if (premises.slot() != null) {
            premises.vacate();
        }
        premises.enter();
        try {
            try {
                bring(snapshot, memory);
            } catch (IOException | RuntimeException e) {
                log.atWarn().setCause(e).addKeyValue("sandbox", id()).log("a sandbox did not come back; once more");
                close();
                premises.clear();
                bring(snapshot, memory);
            }
        } catch (IOException | RuntimeException e) {
            close();
            premises.vacate();
            premises.note(notes().paused(savedNow()));
            throw notRestored(e);
        }
    }

    private void bring(Snapshot snapshot, boolean memory) throws IOException {
        requireWanted();
        open(premises.bring(snapshot, memory));
    }

    private CayException notRestored(Exception e) {
        if (e instanceof CayException known && known.kind() != ErrorKind.INTERNAL) {
            return known;
        }
        return new CayException(
                ErrorKind.NOT_RESTORED,
                "sandbox %s could not be brought back, and is still paused with all that was saved: %s"
                        .formatted(id(), e.getMessage()),
                e);
    }

    /// Puts it back to what another snapshot holds. What it is now is kept until that has worked.
    NodeSandbox rollback(String name) {
        return turns.ask("be rolled back", SAVE_LIMIT, () -> {
            var target = machine.snapshots().require(name);
            boolean ran = stage == Stage.OPEN;
            if (ran) {
                becomePaused(Keep.MEMORY_IF_POSSIBLE);
            }
            requirePaused();
            try {
                bringTwice(target, true);
            } catch (RuntimeException e) {
                if (ran) {
                    bringTwice(machine.snapshots().require(notes().snapshot()), true);
                    nowRuns();
                }
                throw e;
            }
            nowRuns();
            return view();
        });
    }

    private Saved savedNow() {
        return Objects.requireNonNull(notes().saved(), "a paused sandbox without a word on what was saved");
    }

    /// What it was brought back from is of no use any more.
    private void nowRuns() {
        premises.note(notes().running(machine.clock().instant()));
        stage = Stage.OPEN;
        machine.snapshots().deleteLater(notes().snapshot());
    }

    /// Ends the sandbox and removes all of it, also one that is just starting. Doing so twice is fine.
    void end() {
        doomed = true;
        refuseTraffic();
        turns.askIfThere("end", LIMIT, this::removeAll);
    }

    /// Lets go of the sandbox, which runs on, because the daemon stops. One that was not open yet is taken back.
    void leave() {
        if (stage == Stage.STARTING) {
            doomed = true;
        }
        turns.askIfThere("leave", LIMIT, () -> {
            if (stage == Stage.OPEN) {
                close();
                stage = Stage.LEFT;
            }
            turns.end();
        });
    }

    void setInternetAccess(boolean allowed) {
        turns.ask("network", LIMIT, () -> {
            requireOpen();
            premises.note(notes().withInternetAccess(allowed));
            machine.network().setInternetAccess(premises.requireSlot(), allowed);
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

    private void requireOpen() {
        if (stage != Stage.OPEN) {
            throw notRunning();
        }
    }

    private void requirePaused() {
        requireWanted();
        if (stage != Stage.PAUSED) {
            throw notRunning();
        }
    }

    private CayException notRunning() {
        return new CayException(ErrorKind.NOT_FOUND, "sandbox %s is not running".formatted(id()));
    }

    private void open(Container container) throws IOException {
        open = new OpenSandbox(machine, notes().spec(), premises.requireSlot(), container, this::guestLost);
    }

    /// On the poller's thread: the work is the keeper's.
    private void guestLost() {
        turns.later(this::recover);
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
        premises.remove();
        stage = Stage.OVER;
        turns.end();
        ended.ended(this, reason);
    }
}
