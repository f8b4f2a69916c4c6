package dev.cay.wire.node;

import java.time.Duration;
import java.util.Collection;
import java.util.function.Consumer;
import java.util.function.Supplier;

/// What a node has on its disks beside sandboxes: layers and other things that are kept because they may be used again.
public interface NodeDisk {
    /// Of a node without disks.
    NodeDisk NONE = new NodeDisk() {
        @Override
        public void keep(Collection<SandboxKind> named) {}

        @Override
        public void collect(
                Supplier<Collection<SandboxKind>> named, Duration unusedFor, boolean dryRun, Consumer<Removed> told) {}
    };

    /// Something that was removed, or would be.
    ///
    /// @param what  the kind of thing, like `layer`
    /// @param name  its name, or how many small things it is
    /// @param bytes what it took of the disk, as far as that is known
    record Removed(String what, String name, long bytes) {}

    /// Claims all layers that these kinds and the sandboxes of this node need. To be called once at start, before the
    /// first collection of any instance may follow.
    ///
    /// @param named all that sandboxes can be created of
    void keep(Collection<SandboxKind> named);

    /// Removes what nothing of this host refers to. Takes minutes when there is much to remove.
    ///
    /// @param named     tells all that sandboxes can be created of; asked once, after the node has begun
    /// @param unusedFor how long a thing must not have been used
    /// @param dryRun    whether nothing is changed and the listener only hears what would be removed
    /// @param told      hears of each thing, on the caller's thread
    void collect(Supplier<Collection<SandboxKind>> named, Duration unusedFor, boolean dryRun, Consumer<Removed> told);

    /// What of it belongs in a backup.
    default NodeBackup backup() {
        return NodeBackup.NONE;
    }

    /// Files that outlive sandboxes.
    default NodeVolumes volumes() {
        return NodeVolumes.NONE;
    }
}
