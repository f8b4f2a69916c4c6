package dev.cay.node.sandbox;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/// The sandboxes of this node by their keepers; side sandboxes are not among them. Thread-safe.
///
/// A sandbox is in the table from the moment its slot is taken until its last resource is removed, so that it cannot be
/// made twice and can be killed also while it starts.
final class SandboxTable {
    private final ConcurrentMap<SandboxId, SandboxKeeper> keepers = new ConcurrentHashMap<>();

    /// The keeper; null if there is no such sandbox.
    @Nullable
    SandboxKeeper get(SandboxId id) {
        return keepers.get(id);
    }

    SandboxKeeper require(SandboxId id) {
        var keeper = keepers.get(id);
        if (keeper == null) {
            throw new CayException(ErrorKind.NOT_FOUND, "no sandbox %s on this node".formatted(id));
        }
        return keeper;
    }

    /// All of them, as they come and go.
    Collection<SandboxKeeper> all() {
        return Collections.unmodifiableCollection(keepers.values());
    }

    /// The ids of those for which this is true now.
    List<SandboxId> ids(Predicate<SandboxKeeper> which) {
        return keepers.values().stream().filter(which).map(SandboxKeeper::id).toList();
    }

    /// Adds a sandbox, unless there is one of this id.
    ///
    /// @return the keeper of the sandbox that is there already; null if there was none
    @Nullable
    SandboxKeeper add(SandboxKeeper keeper) {
        return keepers.putIfAbsent(keeper.id(), keeper);
    }

    /// Removes a sandbox of which nothing is left.
    void remove(SandboxKeeper keeper) {
        keepers.remove(keeper.id(), keeper);
    }

    /// Removes a sandbox that the caller takes over; null if there is none.
    @Nullable
    SandboxKeeper take(SandboxId id) {
        return keepers.remove(id);
    }

    /// Ends a sandbox, if it is there.
    void kill(SandboxId id) {
        var keeper = keepers.get(id);
        if (keeper != null) {
            keeper.end();
        }
    }
}
