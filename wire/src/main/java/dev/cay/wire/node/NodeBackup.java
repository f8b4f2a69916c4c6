package dev.cay.wire.node;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import dev.cay.wire.VolumeId;
import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// The files of a node that belong in a backup.
public interface NodeBackup {
    /// The backup of a node without disks.
    NodeBackup NONE = () -> {
        throw new CayException(ErrorKind.NOT_IMPLEMENTED, "this node has nothing to back up");
    };

    /// Keeps snapshots and layers on the disk until the hold is closed, also those that are deleted meanwhile.
    Hold hold();

    /// The time in which a backup reads.
    interface Hold extends AutoCloseable {
        /// Has the sandboxes saved that are paused and only frozen. Those that cannot be saved stay as they are.
        void saveFrozen();

        /// Notes which sandboxes are paused at this moment, and in which snapshots. Takes milliseconds, so that the
        /// caller can block changes of all records meanwhile.
        ///
        /// @return false when one is paused that is not saved yet; another look finds more
        boolean look();

        /// Lists everything to be written. Call it once, after {@link #look}.
        Contents contents(Wanted wanted);

        @Override
        void close();
    }

    /// Everything that the server's records refer to.
    ///
    /// @param sandboxes living ones
    /// @param running   names of snapshots of running sandboxes, used for those that are not paused
    /// @param snapshots names of those that sandboxes can be created from
    /// @param layers    content keys of the templates' layers
    /// @param volumes   of all teams
    record Wanted(
            Set<SandboxId> sandboxes,
            Map<SandboxId, String> running,
            Set<String> snapshots,
            Set<String> layers,
            Set<VolumeId> volumes) {
        public Wanted {
            sandboxes = Set.copyOf(sandboxes);
            running = Map.copyOf(running);
            snapshots = Set.copyOf(snapshots);
            layers = Set.copyOf(layers);
            volumes = Set.copyOf(volumes);
        }
    }

    /// @param machine   what memory depends on: processor, kernel, CRIU; null where memory cannot be saved at all
    /// @param gateway   address that sandboxes ask for names
    /// @param sandboxes how many sandboxes there are
    /// @param snapshots how many snapshots with a name there are
    /// @param missing   what records refer to and this machine has lost, or could not save
    /// @param parts     in the order in which they are to be read
    record Contents(
            @org.jspecify.annotations.Nullable Object machine,
            String gateway,
            int sandboxes,
            int snapshots,
            List<String> missing,
            List<Part> parts) {
        public Contents {
            missing = List.copyOf(missing);
            parts = List.copyOf(parts);
        }
    }

    /// The format of a part.
    enum Kind {
        FILE,
        /// A directory with all in it.
        TREE,
        /// A directory tree whose inode numbers are kept.
        DISK
    }

    /// Something to be written.
    interface Part {
        String name();

        Kind kind();

        void writeTo(OutputStream out) throws IOException;
    }
}
