package dev.cay.node.sandbox;

import dev.cay.wire.SandboxId;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Background work for all paused sandboxes of the node.
final class PausedSandboxes {
    private final SavedParts saved;
    private final SandboxTable table;

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

    /// Returns when paused sandboxes use nothing of this machine but their snapshots.
    ///
    /// @param whole false to keep the files alone of those that cannot be saved
    /// @return whether there are only paused sandboxes, and none in memory
    boolean settle(boolean whole) {
        var waiting = table.all().stream()
                .filter(keeper -> keeper.saving().isInMemory())
                .collect(Collectors.toMap(SandboxKeeper::id, SandboxKeeper::saving));
        ForEachSandbox.each(
                waiting.keySet(), id -> Objects.requireNonNull(waiting.get(id)).leaveMemory(whole));
        return table.all().stream()
                .allMatch(keeper -> keeper.isPaused() && !keeper.saving().isInMemory());
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
