package dev.cay.wire.node;

import java.time.Duration;
import java.util.Collection;
import java.util.function.Consumer;
import java.util.function.Supplier;

/// The files on a node's disks that belong to no sandbox: layers and others that may be used again.
public interface NodeDisk {
    /// A node without disks.
    NodeDisk NONE = new NodeDisk() {
        @Override
        public void keep(Collection<SandboxKind> named) {}

        @Override
        public void collect(
                Supplier<Collection<SandboxKind>> named, Duration unusedFor, boolean dryRun, Consumer<Removed> told) {}
    };

    /// Something that was removed, or would be.
    ///
    /// @param what  its kind, like `layer`
    /// @param name  its name, or the number of small files
    /// @param bytes its size on disk, as far as that is known
    record Removed(String what, String name, long bytes) {}

    /// Claims all layers that these kinds and the sandboxes of this node need. To be called once at start, before the
    /// first collection of any instance may follow.
    ///
    /// @param named all that sandboxes can be created of
    void keep(Collection<SandboxKind> named);

    /// Removes everything that nothing on this host refers to. Takes minutes when there is much to remove.
    ///
    /// @param named     returns all kinds of sandboxes that can be created; called once, after the node has begun
    /// @param unusedFor how long a thing must be unused
    /// @param dryRun    whether nothing is changed and the listener only gets what would be removed
    /// @param told      gets each thing, on the caller's thread
    void collect(Supplier<Collection<SandboxKind>> named, Duration unusedFor, boolean dryRun, Consumer<Removed> told);

    /// The parts that belong in a backup.
    default NodeBackup backup() {
        return NodeBackup.NONE;
    }

    /// Files that outlive sandboxes.
    default NodeVolumes volumes() {
        return NodeVolumes.NONE;
    }
}
