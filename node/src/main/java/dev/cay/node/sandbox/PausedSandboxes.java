package dev.cay.node.sandbox;

import dev.cay.wire.SandboxId;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Looks after all paused sandboxes of the node.
final class PausedSandboxes {
    private final SavedParts saved;
    private final Map<SandboxId, SandboxKeeper> keepers;

    /// @param keepers of all sandboxes, as they come and go
    PausedSandboxes(SavedParts saved, Map<SandboxId, SandboxKeeper> keepers) {
        this.saved = saved;
        this.keepers = keepers;
    }

    /// Removes snapshots that were never finished, or whose sandbox runs again.
    void tidy() {
        saved.store().tidy(this::isInUse);
        saved.warm().tidy();
    }

    /// From time to time.
    void lookAfter() {
        unsettled().forEach(keeper -> keeper.saving().settleAgain());
        tidy();
        saved.snapshots().compressOld();
    }

    /// Returns when paused sandboxes have nothing on this machine but what was saved.
    ///
    /// @return whether there are no others
    boolean settle() {
        var waiting = unsettled().collect(Collectors.toMap(SandboxKeeper::id, SandboxKeeper::saving));
        ForEachSandbox.each(
                waiting.keySet(), id -> Objects.requireNonNull(waiting.get(id)).awaitSettled());
        return keepers.values().stream()
                .allMatch(keeper -> keeper.isPaused() && !keeper.saving().unsettled());
    }

    private boolean isInUse(String snapshot) {
        var keeper = keepers.get(new SandboxId(snapshot.substring(0, snapshot.indexOf('.'))));
        return keeper != null && keeper.saving().liesIn(snapshot);
    }

    /// Their originals are still there because the disk had not all of them.
    private Stream<SandboxKeeper> unsettled() {
        return keepers.values().stream().filter(keeper -> keeper.saving().unsettled());
    }
}
