package dev.cay.node.sandbox;

import dev.cay.life.Steps;
import dev.cay.node.mcp.Gateways;
import dev.cay.node.runtime.Container;
import dev.cay.node.runtime.ContainerRuntime;
import dev.cay.node.runtime.Fill;
import dev.cay.node.sandbox.Life.Stage;
import dev.cay.node.snapshot.MemoryReturn;
import dev.cay.node.snapshot.Snapshot;
import dev.cay.node.snapshot.SnapshotStore;
import dev.cay.node.snapshot.Snapshots;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.Durability;
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

/// Saves and restores one sandbox, on its keeper's thread.
///
/// At every moment either the container or a snapshot holds the whole sandbox, and the notes say which. The snapshot is
/// deleted when the sandbox runs again, and the frozen container when the disk has the whole snapshot.
final class Saving {
    private static final Logger log = LoggerFactory.getLogger(Saving.class);
    private static final Duration LIMIT = Duration.ofMinutes(6);
    private static final String LOST_POWER = "the machine lost power before its memory was on the disk";
    private static final Duration FILL_LIMIT = Duration.ofMinutes(3);

    private final SnapshotStore store;
    private final Snapshots snapshots;
    private final Gateways gateways;
    private final ContainerRuntime runtime;
    private final InstantSource clock;
    private final HostFootprint footprint;
    private final KeeperThread turns;
    private final Life life;
    private final Doors doors;
    private final Freezing freezing;
    private final Runnable stuck;

    /// Whether the kernel may have killed some of a frozen sandbox that was adopted.
    private boolean incomplete;

    /// @param stuck sees to a sandbox that runs and cannot be opened; on the keeper's thread
    Saving(KeeperParts parts, HostFootprint footprint, KeeperThread turns, Life life, Doors doors, Runnable stuck) {
        this.store = parts.saved().store();
        this.snapshots = parts.saved().snapshots();
        this.gateways = parts.traffic().gateways();
        this.runtime = parts.host().runtime();
        this.clock = parts.host().clock();
        this.footprint = footprint;
        this.turns = turns;
        this.life = life;
        this.doors = doors;
        this.freezing = new Freezing(parts, footprint, turns, life, doors);
        this.stuck = stuck;
    }

    private SandboxId id() {
        return notes().spec().id();
    }

    private SandboxNotes notes() {
        return footprint.notes();
    }

    /// Whether the snapshot of this name holds it, or is about to.
    boolean liesIn(String snapshot) {
        return notes().snapshot().equals(snapshot);
    }

    /// Pauses it.
    ///
    /// @param until what has to be reached before this returns
    Saved pause(Keep keep, Durability until) {
        return turns.ask("be paused", LIMIT, () -> {
            if (life.is(Stage.PAUSED)) {
                if (until == Durability.SAVED && freezing.isUnsaved()) {
                    freezing.saveNow();
                }
            } else if (until != Durability.FROZEN || !freezing.freeze(keep)) {
                becomePaused(keep, keep == Keep.FILES ? doors::close : doors::closeToSleep);
                putServersAway();
                settle(notes().snapshot());
                if (until == Durability.SAVED) {
                    snapshots.sync();
                }
            }
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
            // The snapshot is deleted first, because a full disk may be the reason.
            discard(snapshot, e);
            goOn(footprint::thaw);
            throw e;
        }
        Steps.reach("paused");
        life.enter(Stage.PAUSED);
    }

    /// Pauses the MCP servers after the sandbox. If the sandbox's memory could not be saved, the servers are ended.
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

    /// Begins a new generation, so that a snapshot of an earlier pause is never mistaken for this one if the machine
    /// crashes during the save.
    private void beginGeneration() {
        life.requireOpen();
        life.requireWanted();
        footprint.note(notes().nextGeneration());
    }

    /// Saves it while it continues to run.
    Saved snapshot(String name, Keep keep) {
        if (keep != Keep.FILES) {
            awaitMemory();
        }
        return turns.ask("be saved", LIMIT, () -> {
            beginGeneration();
            var snapshot = saveTwice(name, keep, doors::leaveForAMoment);
            goOn(footprint::thaw);
            Steps.reach("went-on");
            return snapshot.saved();
        });
    }

    /// It cannot be saved before, and must not stand still for so long. Its keeper's thread is free meanwhile.
    private void awaitMemory() {
        boolean comes =
                footprint.filling().await(FILL_LIMIT).filter(Fill::isUnderWay).isPresent();
        if (comes) {
            throw new CayException(
                    ErrorKind.UNAVAILABLE,
                    "the memory of sandbox %s was not back within %d s; try again in a moment"
                            .formatted(id(), FILL_LIMIT.toSeconds()));
        }
    }

    /// A machine that was too busy to stop the sandbox in time may not be the second time.
    private Snapshot saveTwice(String name, Keep keep, Runnable close) {
        long began = System.nanoTime();
        if (keep == Keep.MEMORY) {
            // Checked again when nothing can be mounted any more. Clients of a sandbox that is refused here are not
            // disconnected.
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
            log.atWarn().setCause(e).addKeyValue("sandbox", id()).log("a sandbox could not be saved; trying once more");
        }
        close.run();
        return save(name, keep);
    }

    /// Saves a sandbox whose connections are closed. Leaves it frozen; opens it again on failure.
    private Snapshot save(String name, Keep keep) {
        Steps.reach("closed");
        try {
            return footprint.save(name, keep);
        } catch (RuntimeException e) {
            goOn(footprint::repair);
            throw e instanceof CayException known && known.kind() == ErrorKind.NOT_SAVED
                    ? new CayException(known.kind(), known.userMessage() + "; the sandbox goes on", e)
                    : e;
        }
    }

    private void goOn(Supplier<Optional<Container>> how) {
        try {
            doors.open(how.get().orElseThrow(life::notRunning));
            footprint.note(notes().running(notes().startedAt()));
        } catch (IOException | RuntimeException e) {
            log.atError().setCause(e).addKeyValue("sandbox", id()).log("a sandbox could not be resumed after its save");
            stuck.run();
        }
    }

    /// Once the disk has the whole snapshot, the frozen container may give way: a loss of power must not lose both. One
    /// whose memory was not saved gives way at once.
    private void settle(String snapshot) {
        snapshots.afterSync(() -> turns.later(() -> {
            Steps.reach("synced");
            if (unsettled() && liesIn(snapshot)) {
                if (savedNow().memory() && !incomplete && runtime.find(id()).isPresent()) {
                    freezing.keep();
                } else {
                    footprint.vacate();
                }
            }
        }));
    }

    /// Whether its original is still there because the disk had not all of it.
    boolean unsettled() {
        return isInMemory() && !freezing.isUnsaved() && !freezing.isKept();
    }

    /// Whether it is paused, and a frozen container of it is there.
    boolean isInMemory() {
        return life.is(Stage.PAUSED) && footprint.slot() != null;
    }

    void settleAgain() {
        settle(notes().snapshot());
    }

    /// Returns when a paused sandbox uses nothing but its snapshot.
    ///
    /// @param whole false to keep the files alone of one that cannot be saved
    void leaveMemory(boolean whole) {
        turns.askIfThere("settle", LIMIT, () -> {
            if (isInMemory()) {
                snapshots.sync();
                freezing.leaveMemory(whole);
            }
        });
    }

    /// The daemon stops and has no more time: no save begins, and one that is being made is given up. On any thread.
    void saveNoMore() {
        freezing.wanted();
    }

    /// Saves a frozen one that is not saved yet; does nothing for others.
    void saveFrozen() {
        freezing.save();
    }

    /// Its end is wanted, on any thread.
    void cut() {
        freezing.cut();
    }

    /// It ends. On the keeper's thread.
    void end() {
        freezing.end();
    }

    /// Resumes a paused sandbox.
    void resume(boolean memory) {
        if (!memory) {
            turns.ask("be resumed", LIMIT, () -> becomeOpen(false));
            return;
        }
        try (var _ = freezing.wanted()) {
            turns.ask("be resumed", LIMIT, () -> becomeOpen(true));
        }
    }

    private boolean becomeOpen(boolean memory) {
        if (!life.is(Stage.OPEN)) {
            life.requirePaused();
            if (!(memory && savedNow().memory() && isInMemory() && freezing.thaw())) {
                freezing.requireSnapshot();
                restore(memory);
            }
            nowRuns();
        }
        return true;
    }

    private void restore(boolean memory) {
        var snapshot = store.require(notes().snapshot());
        boolean whole = memory && snapshot.hasMemory();
        if (!whole) {
            gateways.rest(id());
        }
        bringTwice(snapshot, whole);
    }

    /// Restores, and retries once; after a second failure the sandbox is paused as before.
    private void bringTwice(Snapshot snapshot, boolean memory) {
        if (footprint.slot() != null) {
            freezing.vacate();
        }
        footprint.enter();
        try {
            try {
                bring(snapshot, memory ? MemoryReturn.LAZILY : MemoryReturn.NONE);
            } catch (IOException | RuntimeException e) {
                log.atWarn()
                        .setCause(e)
                        .addKeyValue("sandbox", id())
                        .log("a sandbox could not be restored; trying once more");
                doors.close();
                footprint.clear();
                bring(snapshot, memory ? MemoryReturn.AT_ONCE : MemoryReturn.NONE);
            }
        } catch (IOException | RuntimeException e) {
            doors.close();
            footprint.vacate();
            footprint.note(notes().paused(savedNow()));
            throw notRestored(e);
        }
    }

    private void bring(Snapshot snapshot, MemoryReturn memory) throws IOException {
        life.requireWanted();
        var container = footprint.bring(snapshot, memory);
        Steps.reach("brought");
        doors.open(container);
        Steps.reach("opened");
    }

    private CayException notRestored(Exception e) {
        // What was a valid request at the create may not be one any more: the sandbox changes its own directories.
        if (e instanceof CayException known
                && known.kind() != ErrorKind.INTERNAL
                && known.kind() != ErrorKind.INVALID_ARGUMENT) {
            return known;
        }
        return new CayException(
                ErrorKind.NOT_RESTORED,
                "sandbox %s could not be brought back, and is still paused with all that was saved: %s"
                        .formatted(id(), e.getMessage()),
                e);
    }

    /// Restores another snapshot in place of the current state, which is kept until that has worked.
    void rollback(String name) {
        turns.ask("be rolled back", LIMIT, () -> {
            var target = store.require(name);
            boolean ran = life.is(Stage.OPEN);
            if (ran) {
                keepForRollback();
            }
            life.requirePaused();
            freezing.requireSnapshot();
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

    /// Deletes the snapshot from which it was restored; its files when it is filled.
    void nowRuns() {
        footprint.note(notes().running(clock.instant()));
        Steps.reach("running");
        life.enter(Stage.OPEN);
        footprint.filling().follow();
        snapshots.deleteLater(notes().snapshot());
    }

    /// Adopts a paused sandbox that is not saved yet.
    ///
    /// @param there whether its container can go on
    void adoptFrozen(boolean there) {
        turns.ask("adopt", LIMIT, () -> {
            freezing.adopt(there);
            return null;
        });
    }

    /// Adopts a paused sandbox, and removes the rest of its container.
    void adopt() {
        if (notes().phaseNow() == SandboxNotes.Phase.SAVING) {
            footprint.note(notes().paused(store.require(notes().snapshot()).saved()));
        }
        if (!store.isWhole(notes().snapshot()) && !footprint.saveRest(LOST_POWER)) {
            log.atError().addKeyValue("sandbox", id()).log("the snapshot of a paused sandbox is missing or incomplete");
        }
        life.enter(Stage.PAUSED);
        turns.later(() -> {
            runtime.settle(id());
            if (notes().phaseNow() == SandboxNotes.Phase.PAUSED) {
                // What was saved of it is whole.
                footprint.filling().end();
            }
            if (notes().phaseNow() == SandboxNotes.Phase.RESUMING) {
                footprint.vacate();
                footprint.note(notes().paused(savedNow()));
            } else if (unsettled()) {
                incomplete = runtime.memoryKills(id()) > 0;
                settle(notes().snapshot());
            }
        });
    }
}
