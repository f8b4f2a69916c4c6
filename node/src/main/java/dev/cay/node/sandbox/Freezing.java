package dev.cay.node.sandbox;

import dev.cay.life.Steps;
import dev.cay.node.mcp.Gateways;
import dev.cay.node.runtime.ContainerRuntime;
import dev.cay.node.sandbox.FrozenSandboxes.Outcome;
import dev.cay.node.sandbox.Life.Stage;
import dev.cay.node.snapshot.SnapshotStore;
import dev.cay.node.snapshot.Snapshots;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.Keep;
import dev.cay.wire.node.Saved;
import java.io.IOException;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Freezes one sandbox, saves it while it is frozen, and lets it go on.
///
/// From the note that it is frozen until the disk has its snapshot, the frozen container is the sandbox. Afterwards the
/// two are the same, and the container may give way.
final class Freezing implements FrozenSandboxes.Original {
    private static final Logger log = LoggerFactory.getLogger(Freezing.class);
    private static final Duration LIMIT = Duration.ofMinutes(6);
    private static final Duration GIVE_WAY_LIMIT = Duration.ofSeconds(30);
    private static final String RESTARTED = "the machine was restarted before its memory was on the disk";
    private static final String STOPPED = "Cay was stopped before its memory was on the disk";
    private static final String ENDED = "its frozen processes ended before its memory was on the disk";

    private final SnapshotStore store;
    private final Snapshots snapshots;
    private final FrozenSandboxes all;
    private final Gateways gateways;
    private final ContainerRuntime runtime;
    private final HostFootprint footprint;
    private final KeeperThread turns;
    private final Life life;
    private final Doors doors;

    /// How many of its processes the kernel had killed for lack of memory when it was frozen.
    private long memoryKills;

    /// Whether the container is being dumped, which takes long.
    private volatile boolean dumping;

    private final Urgency urgency;

    /// Counts its dumps.
    private int dumps;

    /// What the last dump has kept of it, unless it went on since; its snapshot may not be on the disk yet.
    private @Nullable Saved dumped;

    Freezing(KeeperParts parts, HostFootprint footprint, KeeperThread turns, Life life, Doors doors) {
        this.store = parts.saved().store();
        this.snapshots = parts.saved().snapshots();
        this.all = parts.saved().frozen();
        this.gateways = parts.traffic().gateways();
        this.runtime = parts.host().runtime();
        this.footprint = footprint;
        this.turns = turns;
        this.life = life;
        this.doors = doors;
        this.urgency = new Urgency(() -> runtime.giveUpCheckpoint(id()));
    }

    @Override
    public SandboxId id() {
        return notes().spec().id();
    }

    private SandboxNotes notes() {
        return footprint.notes();
    }

    /// Whether its memory is in the frozen container alone.
    boolean isUnsaved() {
        return notes().isFrozen();
    }

    /// Whether it is among the frozen ones of the machine.
    boolean isKept() {
        return all.has(id());
    }

    /// Pauses it, if it may be frozen now and saved later: not so much waits for that already, and nothing is known
    /// that
    /// keeps its memory from being saved. On the keeper's thread.
    ///
    /// @return whether it is frozen
    boolean freeze(Keep keep) {
        if (keep == Keep.FILES) {
            return false;
        }
        life.requireOpen();
        life.requireWanted();
        long memory = resident();
        if (all.isTooMuch(memory) || !isSavable(keep)) {
            return false;
        }
        freezeNow(memory);
        return true;
    }

    /// Refuses one whose memory must be kept.
    private boolean isSavable(Keep keep) {
        try {
            snapshots.requireSavable(id());
            return true;
        } catch (CayException e) {
            if (keep == Keep.MEMORY) {
                throw e;
            }
            return false;
        }
    }

    /// @param memory bytes that it holds
    private void freezeNow(long memory) {
        doors.refuse();
        doors.closeToSleep();
        Steps.reach("closed");
        try {
            footprint.note(notes().nextGeneration().frozen(Saved.FROZEN));
            Steps.reach("noted-frozen");
            runtime.freeze(id());
        } catch (RuntimeException e) {
            reopen(e);
            throw e;
        }
        Steps.reach("frozen");
        life.enter(Stage.PAUSED);
        gateways.sleep(id());
        join(memory, false);
    }

    private void reopen(RuntimeException failure) {
        try {
            doors.open(footprint.thaw().orElseThrow(life::notRunning));
            footprint.note(notes().running(notes().startedAt()));
        } catch (IOException | RuntimeException e) {
            failure.addSuppressed(e);
        }
    }

    /// Joins the frozen ones of the machine.
    ///
    /// @param memory bytes that it holds
    private void join(long memory, boolean saved) {
        memoryKills = runtime.memoryKills(id());
        all.add(this, memory, saved);
    }

    /// Its snapshot is on the disk: it stays frozen while there is room. On the keeper's thread.
    void keep() {
        join(resident(), true);
    }

    @Override
    public long resident() {
        try {
            return runtime.find(id())
                    .map(runtime::usage)
                    .map(usage -> usage.memory())
                    .orElse(0L);
        } catch (CayException e) {
            return 0;
        }
    }

    @Override
    public boolean isFilling() {
        try {
            return runtime.fill(id()).isUnderWay();
        } catch (CayException e) {
            return false;
        }
    }

    /// Somebody waits for it to go on with its memory. On any thread.
    Urgency.Waiting wanted() {
        return urgency.begin();
    }

    /// Its keeper's thread is free while the disk writes, so that it can go on meanwhile.
    @Override
    public Outcome save() {
        var outcome = turns.ask("be saved", LIMIT, this::dumpBehind);
        if (outcome != Outcome.SAVED) {
            return outcome;
        }
        int mine = dumps;
        try {
            snapshots.sync();
        } catch (CayException e) {
            return turns.ask("stay frozen", LIMIT, () -> {
                stayFrozen(e);
                return failed(e);
            });
        }
        return turns.ask("be noted as saved", LIMIT, () -> {
            if (life.is(Stage.PAUSED) && isUnsaved() && dumped != null && mine == dumps) {
                noteSaved();
            }
            return isUnsaved() ? Outcome.LATER : Outcome.SAVED;
        });
    }

    /// Writes its snapshot, unless somebody waits for it. On the keeper's thread.
    private Outcome dumpBehind() {
        if (!life.is(Stage.PAUSED) || !isUnsaved()) {
            return Outcome.LATER;
        }
        if (isFilling()) {
            stayFrozen(new CayException(ErrorKind.DEADLINE_EXCEEDED, "its memory does not come back in time"));
            return Outcome.FAILED;
        }
        if (!urgency.beginDump()) {
            return Outcome.LATER;
        }
        try {
            dump();
            // Files alone, if its memory was lost.
            return isUnsaved() ? Outcome.SAVED : Outcome.LATER;
        } catch (CayException e) {
            return failed(e);
        } finally {
            urgency.endDump();
        }
    }

    private Outcome failed(CayException e) {
        if (urgency.isWanted()) {
            return Outcome.LATER;
        }
        log.atWarn()
                .setCause(e)
                .addKeyValue("sandbox", id())
                .log("a frozen sandbox could not be saved; trying once more");
        return Outcome.FAILED;
    }

    /// Why its memory cannot be saved any more; null if it can.
    private @Nullable String loss() {
        if (runtime.find(id()).isEmpty()) {
            return ENDED;
        }
        var fill = runtime.fill(id());
        return fill.isLost() ? fill.loss() : null;
    }

    /// Saves it; if that fails, it is frozen as before. On the keeper's thread.
    void saveNow() {
        dump();
        if (!isUnsaved()) {
            return;
        }
        try {
            snapshots.sync();
            noteSaved();
        } catch (RuntimeException e) {
            stayFrozen(e);
            throw e;
        }
    }

    /// Writes its snapshot, or keeps its files if its memory is lost. If that fails, it is frozen as before.
    private void dump() {
        String loss = loss();
        if (loss != null) {
            keepFiles(loss);
            return;
        }
        if (dumped != null) {
            return;
        }
        try {
            // What an earlier try or daemon left.
            store.delete(notes().snapshot());
            dumping = true;
            dumps++;
            dumped = footprint.save(Keep.MEMORY).saved();
            Steps.reach("unsynced");
        } catch (RuntimeException e) {
            dumping = false;
            stayFrozen(e);
            throw e;
        } finally {
            dumping = false;
        }
    }

    /// The disk has all of it.
    private void noteSaved() {
        Steps.reach("synced");
        footprint.note(notes().paused(Objects.requireNonNull(dumped)));
        dumped = null;
        Steps.reach("paused");
        all.tell(id(), saved());
    }

    /// It is frozen as before, and its notes say why.
    private void stayFrozen(RuntimeException failure) {
        dumped = null;
        if (life.doomed()) {
            return;
        }
        try {
            store.delete(notes().snapshot());
        } catch (RuntimeException e) {
            failure.addSuppressed(e);
        }
        try {
            runtime.stay(id());
            if (urgency.isWanted()) {
                return;
            }
            String reason = failure instanceof CayException known ? known.userMessage() : "Cay could not write it";
            var now = Saved.notYet(reason);
            if (!now.equals(saved())) {
                footprint.note(notes().frozen(now));
                all.tell(id(), now);
            }
        } catch (RuntimeException e) {
            failure.addSuppressed(e);
        }
    }

    private Saved saved() {
        return Objects.requireNonNull(notes().saved(), "a paused sandbox without a word on what was saved");
    }

    @Override
    public void pushOut() {
        boolean frozen = turns.ask("be pushed out to the swap", GIVE_WAY_LIMIT, () -> {
            boolean stays = life.is(Stage.PAUSED) && !urgency.isWanted();
            if (stays) {
                runtime.allowSwap(id());
            }
            return stays;
        });
        if (frozen) {
            // Not on the keeper's thread: somebody who wants it meanwhile shall not wait.
            runtime.pushOut(id());
        }
    }

    @Override
    public void giveWay() {
        turns.askIfThere("give way", GIVE_WAY_LIMIT, () -> {
            if (life.is(Stage.PAUSED) && !isUnsaved() && footprint.slot() != null) {
                vacate();
            }
        });
    }

    /// Leaves the machine's memory. On the keeper's thread.
    void vacate() {
        all.remove(id());
        footprint.vacate();
    }

    @Override
    public void keepFilesAlone(String reason) {
        turns.askIfThere("keep its files", LIMIT, () -> {
            if (life.is(Stage.PAUSED) && isUnsaved()) {
                keepFiles(reason);
            }
        });
    }

    private void keepFiles(String reason) {
        dumped = null;
        if (!footprint.saveRest(reason)) {
            throw new CayException(ErrorKind.NOT_SAVED, "the files of sandbox %s are gone".formatted(id()));
        }
        log.atWarn().addKeyValue("sandbox", id()).addKeyValue("reason", reason).log("only files of a sandbox are kept");
        gateways.rest(id());
        all.tell(id(), saved());
        vacate();
    }

    /// Saves what is not saved, and leaves the machine's memory. On the keeper's thread.
    ///
    /// @param whole false to keep the files alone of what cannot be saved
    void leaveMemory(boolean whole) {
        if (isUnsaved() && !urgency.beginDump()) {
            if (!whole) {
                keepFiles(STOPPED);
            }
            return;
        }
        try {
            if (isUnsaved()) {
                saveNow();
            }
        } catch (CayException e) {
            if (whole) {
                throw e;
            }
            keepFiles(urgency.isWanted() ? STOPPED : e.userMessage());
            return;
        } finally {
            urgency.endDump();
        }
        if (footprint.slot() != null) {
            vacate();
        }
    }

    /// Lets it go on in its frozen container. On the keeper's thread.
    ///
    /// @return false when it has to be restored: the container is gone, or the kernel has killed some of it
    boolean thaw() {
        if (runtime.find(id()).isEmpty() || (!isUnsaved() && runtime.memoryKills(id()) > memoryKills)) {
            return false;
        }
        // From now on it is not what was dumped.
        dumped = null;
        try {
            doors.open(footprint.thaw().orElseThrow(life::notRunning));
            Steps.reach("thawed");
            all.remove(id());
            return true;
        } catch (IOException | RuntimeException e) {
            log.atWarn().setCause(e).addKeyValue("sandbox", id()).log("a frozen sandbox does not thaw");
            doors.close();
            runtime.freeze(id());
            return false;
        }
    }

    /// Before it is restored: makes sure that there is something to restore from. On the keeper's thread.
    void requireSnapshot() {
        if (!isUnsaved()) {
            return;
        }
        String loss = loss();
        if (loss != null) {
            keepFiles(loss);
            throw new CayException(
                    ErrorKind.NOT_RESTORED,
                    "sandbox %s is still paused, with its files alone: %s".formatted(id(), loss));
        }
        saveNow();
    }

    /// Adopts it from an earlier daemon. On the keeper's thread.
    ///
    /// @param there whether its container can go on
    void adopt(boolean there) {
        if (!there) {
            if (store.isWhole(notes().snapshot())) {
                footprint.note(notes().paused(store.require(notes().snapshot()).saved()));
            } else if (!footprint.saveRest(RESTARTED)) {
                log.atError()
                        .addKeyValue("sandbox", id())
                        .log("the snapshot of a paused sandbox is missing or incomplete");
            }
            life.enter(Stage.PAUSED);
            turns.later(footprint::vacate);
            return;
        }
        life.enter(Stage.PAUSED);
        turns.later(() -> {
            runtime.stay(id());
            join(resident(), false);
        });
    }

    /// Its end is wanted: a dump is cut, because nobody needs what it writes. On any thread.
    void cut() {
        if (dumping) {
            runtime.kill(id());
        }
    }

    /// It is frozen no more, because it ended.
    void end() {
        all.remove(id());
    }
}
