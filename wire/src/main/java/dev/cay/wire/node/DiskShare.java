package dev.cay.wire.node;

import dev.cay.wire.SandboxId;
import java.util.Set;

/// What some sandboxes and snapshots may hold of a node's disk together.
///
/// @param sandboxes running or paused
public record DiskShare(long bytes, Set<SandboxId> sandboxes, Set<String> snapshots) {
    public DiskShare {
        sandboxes = Set.copyOf(sandboxes);
        snapshots = Set.copyOf(snapshots);
    }
}
