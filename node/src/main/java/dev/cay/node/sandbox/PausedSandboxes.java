package dev.cay.node.sandbox;

import dev.cay.wire.SandboxId;
import java.time.Duration;
import java.util.Collection;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Background work for all paused sandboxes of the node.
final class PausedSandboxes {
    private static final Logger log = LoggerFactory.getLogger(PausedSandboxes.class);
    private final SavedParts saved;
    private final SandboxTable table;

    /// Whether a daemon that stops has saved for long enough.
    private volatile boolean late;

    PausedSandboxes(SavedParts saved, SandboxTable table) {
        this.saved = saved;
        this.table = table;
    }

    /// Removes unfinished snapshots, and those whose sandbox runs again.
    void tidy() {
        saved.store().tidy(this::isInUse);
        saved.warm().tidy();
    }

    /// Retries work that failed. Called periodically.
    void lookAfter() {
        unsettled().forEach(keeper -> keeper.saving().settleAgain());
        saved.frozen().lookAfter();
        tidy();
        saved.snapshots().compressOld();
    }

    /// Returns when paused sandboxes use nothing of this machine but their snapshots, or when that takes too long.
    /// Those
    /// that are not saved then stay frozen, and the next daemon saves them.
    ///
    /// @param whole false to keep the files alone of those that cannot be saved, or not in time
    /// @param limit of all together
    /// @return whether there are only paused sandboxes, and none in memory
    boolean settle(boolean whole, Duration limit) {
        var waiting = table.all().stream()
                .filter(keeper -> keeper.saving().isInMemory())
                .collect(Collectors.toMap(SandboxKeeper::id, SandboxKeeper::saving));
        var alarm = Thread.ofVirtual().name("limit-of-saves").start(() -> endSaves(limit, waiting.values()));
        try {
            ForEachSandbox.each(waiting.keySet(), id -> {
                if (!late || !whole) {
                    Objects.requireNonNull(waiting.get(id)).leaveMemory(whole);
                }
            });
        } finally {
            alarm.interrupt();
        }
        return table.all().stream()
                .allMatch(keeper -> keeper.isPaused() && !keeper.saving().isInMemory());
    }

    private void endSaves(Duration limit, Collection<Saving> waiting) {
        try {
            Thread.sleep(late ? Duration.ZERO : limit);
        } catch (InterruptedException e) {
            return;
        }
        late = true;
        log.atWarn()
                .addKeyValue("seconds", limit.toSeconds())
                .log("not all paused sandboxes could be saved in time; the others stay frozen");
        waiting.forEach(Saving::saveNoMore);
    }

    /// Returns when each frozen sandbox is saved, or could not be.
    void saveFrozen() {
        ForEachSandbox.each(
                saved.frozen().unsaved().keySet(),
                id -> Optional.ofNullable(table.get(id))
                        .ifPresent(keeper -> keeper.saving().saveFrozen()));
    }

    private boolean isInUse(String snapshot) {
        var keeper = table.get(new SandboxId(snapshot.substring(0, snapshot.indexOf('.'))));
        return keeper != null && keeper.saving().liesIn(snapshot);
    }

    /// Sandboxes whose frozen containers still exist because the disk had not all of their snapshots.
    private Stream<SandboxKeeper> unsettled() {
        return table.all().stream().filter(keeper -> keeper.saving().unsettled());
    }
}
