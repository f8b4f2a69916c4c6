package dev.cay.wire.node;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.TeamId;
import dev.cay.wire.VolumeId;
import java.util.Map;
import java.util.Set;

/// Volumes of a node: files that outlive sandboxes and that several of them can mount. Calls may be repeated.
public interface NodeVolumes {
    /// A node without disks.
    NodeVolumes NONE = new NodeVolumes() {
        @Override
        public long mostBytes() {
            return 0;
        }

        @Override
        public void create(VolumeId id, long bytes) {
            throw new CayException(ErrorKind.NOT_IMPLEMENTED, "this node has no volumes");
        }

        @Override
        public void delete(VolumeId id) {}

        @Override
        public Set<VolumeId> list() {
            return Set.of();
        }

        @Override
        public Map<VolumeId, Long> used() {
            return Map.of();
        }

        @Override
        public VolumeContent content(VolumeId id, TeamId owner) {
            throw new CayException(ErrorKind.NOT_FOUND, "Volume not found");
        }
    };

    /// The largest size of a volume, which is also the default.
    long mostBytes();

    /// Makes an empty volume. An existing one gets this size.
    void create(VolumeId id, long bytes);

    /// Deletes a volume with all in it. Unknown ones are fine; one that a sandbox mounts, running or paused, is
    /// refused with CONFLICT.
    void delete(VolumeId id);

    /// All volumes of this node.
    Set<VolumeId> list();

    /// Bytes that each holds, up to half a minute old; without those not known.
    Map<VolumeId, Long> used();

    /// The files of a volume; NOT_FOUND if it is not here.
    ///
    /// @param owner whose share of the node's threads the work takes
    VolumeContent content(VolumeId id, TeamId owner);
}
