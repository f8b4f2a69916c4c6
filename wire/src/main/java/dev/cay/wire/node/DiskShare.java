package dev.cay.wire.node;

import dev.cay.wire.SandboxId;
import java.util.Set;

/// The disk space that some sandboxes and snapshots of a node may use together.
///
/// @param sandboxes running or paused
public record DiskShare(long bytes, Set<SandboxId> sandboxes, Set<String> snapshots) {
    public DiskShare {
        sandboxes = Set.copyOf(sandboxes);
        snapshots = Set.copyOf(snapshots);
    }
}
