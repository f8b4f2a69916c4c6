package dev.cay.node.sandbox;

import dev.cay.life.Steps;
import dev.cay.node.mcp.Gateways;
import dev.cay.node.runtime.Container;
import dev.cay.node.runtime.ContainerRuntime;
import dev.cay.node.sandbox.Life.Stage;
import dev.cay.node.snapshot.Snapshot;
import dev.cay.node.snapshot.SnapshotStore;
import dev.cay.node.snapshot.Snapshots;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.Keep;
import dev.cay.wire.node.Saved;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Saves one sandbox and brings it back, in turn with everything else its keeper does.
///
/// At every moment there is either the container or a snapshot that holds all of it, and the notes say which. What was
/// saved is given up when the sandbox runs again, and the original when the disk has what was saved.
final class Saving {
    private static final Logger log = LoggerFactory.getLogger(Saving.class);
    private static final Duration LIMIT = Duration.ofMinutes(6);

    private final SnapshotStore store;
    private final Snapshots snapshots;
    private final Gateways gateways;
    private final ContainerRuntime runtime;
    private final InstantSource clock;
    private final HostFootprint footprint;
    private final KeeperThread turns;
    private final Life life;
    private final Doors doors;
    private final Runnable stuck;

    /// @param stuck sees to a sandbox that runs and cannot be opened; on the keeper's thread
    Saving(KeeperParts parts, Premises premises, KeeperThread turns, Life life, Doors doors, Runnable stuck) {
        this.store = parts.saved().store();
        this.snapshots = parts.saved().snapshots();
        this.gateways = parts.traffic().gateways();
        this.runtime = parts.host().runtime();
        this.clock = parts.host().clock();
        this.footprint = footprint;
        this.turns = turns;
        this.life = life;
        this.doors = doors;
        this.stuck = stuck;
    }

    private SandboxId id() {
        return notes().spec().id();
    }

    private SandboxNotes notes() {
        return footprint.notes();
    }

    /// Whether it lies in the snapshot of this name, or is just about to.
    boolean liesIn(String snapshot) {
        return notes().snapshot().equals(snapshot);
    }

    /// Saves it and takes it off the machine.
    Saved pause(Keep keep) {
        return turns.ask("be paused", LIMIT, () -> {
            if (life.is(Stage.PAUSED)) {
                return savedNow();
            }
            becomePaused(keep, keep == Keep.FILES ? doors::close : doors::closeToSleep);
            putServersAway();
            settle(notes().snapshot());
            return savedNow();
        });
    }

    private void becomePaused(Keep keep, Runnable close) {
        beginGeneration();
        var snapshot = saveTwice(notes().snapshot(), keep, () -> {
            doors.refuse();
            close.run();
        });
        try {
            footprint.note(notes().paused(snapshot.saved()));
        } catch (RuntimeException e) {
            // At first, as a full disk may be the reason.
            discard(snapshot, e);
            goOn(footprint::thaw);
            throw e;
        }
        Steps.reach("paused");
        life.enter(Stage.PAUSED);
    }

    /// After the sandbox, which does not wait for them. Where its own memory could not be saved, theirs is not either.
    private void putServersAway() {
        if (savedNow().memory()) {
            gateways.sleep(id());
        } else {
            gateways.rest(id());
        }
    }

    private void discard(Snapshot snapshot, RuntimeException failure) {
        try {
            store.delete(snapshot.name());
        } catch (RuntimeException e) {
            failure.addSuppressed(e);
        }
    }

    /// From now on no snapshot of an earlier time can be taken for it, as those that are about to be deleted could be
    /// when the machine goes down while it is saved.
    private void beginGeneration() {
        life.requireOpen();
        life.requireWanted();
        footprint.note(notes().nextGeneration());
    }

    /// Saves it while it goes on.
    Saved snapshot(String name, Keep keep) {
        return turns.ask("be saved", LIMIT, () -> {
            beginGeneration();
            var snapshot = saveTwice(name, keep, doors::leaveForAMoment);
            goOn(footprint::thaw);
            Steps.reach("went-on");
            return snapshot.saved();
        });
    }

    /// A machine that was too busy to stop the sandbox in time may not be the second time.
    private Snapshot saveTwice(String name, Keep keep, Runnable close) {
        long began = System.nanoTime();
        if (keep == Keep.MEMORY) {
            // Looked at again when nobody can mount any more. Clients of a sandbox that is refused now are not cut.
            footprint.requireSavable();
        }
        close.run();
        try {
            return save(name, keep);
        } catch (CayException e) {
            boolean late = e.kind() == ErrorKind.DEADLINE_EXCEEDED
                    && System.nanoTime() - began < LIMIT.dividedBy(4).toNanos();
            if (!late || doors.now().isEmpty()) {
                throw e;
            }
            log.atWarn().setCause(e).addKeyValue("sandbox", id()).log("a sandbox was not saved; once more");
        }
        close.run();
        return save(name, keep);
    }

    /// Of a sandbox whose doors are closed. Leaves it frozen; when it fails, open as it was.
    private Snapshot save(String name, Keep keep) {
        Steps.reach("closed");
        try {
            return footprint.save(name, keep);
        } catch (RuntimeException e) {
            goOn(footprint::repair);
            throw e;
        }
    }

    private void goOn(Supplier<Optional<Container>> how) {
        try {
            doors.open(how.get().orElseThrow(life::notRunning));
            footprint.note(notes().running(notes().startedAt()));
        } catch (IOException | RuntimeException e) {
            log.atError().setCause(e).addKeyValue("sandbox", id()).log("a sandbox does not go on after it was saved");
            stuck.run();
        }
    }

    /// The original stays until the disk has what was saved: a machine that loses power must not lose both.
    private void settle(String snapshot) {
        snapshots.afterSync(() -> turns.later(() -> {
            Steps.reach("synced");
            if (life.is(Stage.PAUSED) && footprint.slot() != null && liesIn(snapshot)) {
                footprint.vacate();
            }
        }));
    }

    /// Whether its original is still there because the disk had not all of it.
    boolean unsettled() {
        return life.is(Stage.PAUSED) && footprint.slot() != null;
    }

    void settleAgain() {
        settle(notes().snapshot());
    }

    /// Returns when nothing of a paused sandbox is left but what was saved.
    void awaitSettled() {
        turns.askIfThere("settle", LIMIT, () -> {
            if (unsettled()) {
                snapshots.sync();
                footprint.vacate();
            }
        });
    }

    /// Lets a paused sandbox go on.
    void resume(boolean memory) {
        turns.ask("be resumed", LIMIT, () -> {
            if (!life.is(Stage.OPEN)) {
                life.requirePaused();
                var snapshot = store.require(notes().snapshot());
                boolean whole = memory && snapshot.hasMemory();
                if (!whole) {
                    gateways.rest(id());
                }
                if (!(whole && unsettled() && thawOriginal())) {
                    bringTwice(snapshot, whole);
                }
                nowRuns();
            }
            return null;
        });
    }

    /// Nothing of it has been taken away yet, so nothing needs to be brought back.
    private boolean thawOriginal() {
        if (runtime.find(id()).isEmpty()) {
            return false;
        }
        try {
            doors.open(footprint.thaw().orElseThrow(life::notRunning));
            return true;
        } catch (IOException | RuntimeException e) {
            log.atWarn().setCause(e).addKeyValue("sandbox", id()).log("a frozen sandbox does not thaw; it is restored");
            return false;
        }
    }

    /// What fails once may work the second time; after that the sandbox is as paused as it was.
    private void bringTwice(Snapshot snapshot, boolean memory) {
        if (footprint.slot() != null) {
            footprint.vacate();
        }
        footprint.enter();
        try {
            try {
                bring(snapshot, memory);
            } catch (IOException | RuntimeException e) {
                log.atWarn().setCause(e).addKeyValue("sandbox", id()).log("a sandbox did not come back; once more");
                doors.close();
                footprint.clear();
                bring(snapshot, memory);
            }
        } catch (IOException | RuntimeException e) {
            doors.close();
            footprint.vacate();
            footprint.note(notes().paused(savedNow()));
            throw notRestored(e);
        }
    }

    private void bring(Snapshot snapshot, boolean memory) throws IOException {
        life.requireWanted();
        var container = footprint.bring(snapshot, memory);
        Steps.reach("brought");
        doors.open(container);
        Steps.reach("opened");
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
    void rollback(String name) {
        turns.ask("be rolled back", LIMIT, () -> {
            var target = store.require(name);
            boolean ran = life.is(Stage.OPEN);
            if (ran) {
                keepForRollback();
            }
            life.requirePaused();
            gateways.rest(id());
            try {
                bringTwice(target, true);
            } catch (RuntimeException e) {
                if (ran) {
                    bringTwice(store.require(notes().snapshot()), true);
                    nowRuns();
                }
                throw e;
            }
            nowRuns();
            return null;
        });
    }

    /// Memory is left behind only where nothing could ever save it: a disk that is full now is no reason.
    private void keepForRollback() {
        try {
            becomePaused(Keep.MEMORY, doors::close);
        } catch (CayException e) {
            if (e.kind() != ErrorKind.NOT_SAVED) {
                throw e;
            }
            becomePaused(Keep.FILES, doors::close);
        }
    }

    private Saved savedNow() {
        return Objects.requireNonNull(notes().saved(), "a paused sandbox without a word on what was saved");
    }

    /// What it was brought back from is of no use any more.
    void nowRuns() {
        footprint.note(notes().running(clock.instant()));
        Steps.reach("running");
        life.enter(Stage.OPEN);
        snapshots.deleteLater(notes().snapshot());
    }

    /// Takes up a paused one. Whatever is left of its container goes.
    void adopt() {
        if (notes().phaseNow() == SandboxNotes.Phase.SAVING) {
            premises.note(notes().paused(store.require(notes().snapshot()).saved()));
        }
        if (!store.isWhole(notes().snapshot()) && !premises.saveRest()) {
            log.atError().addKeyValue("sandbox", id()).log("what was saved of a sandbox is gone");
        }
        life.enter(Stage.PAUSED);
        turns.later(() -> {
            runtime.settle(id());
            if (notes().phaseNow() == SandboxNotes.Phase.RESUMING) {
                footprint.vacate();
                footprint.note(notes().paused(savedNow()));
            } else if (unsettled()) {
                settle(notes().snapshot());
            }
        });
    }
}
