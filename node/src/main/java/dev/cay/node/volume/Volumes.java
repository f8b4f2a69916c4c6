package dev.cay.node.volume;

import dev.cay.node.files.VolumeTree;
import dev.cay.node.linux.HostThreads;
import dev.cay.node.storage.VolumeDisks;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.TeamId;
import dev.cay.wire.VolumeId;
import dev.cay.wire.node.NodeVolumes;
import dev.cay.wire.node.VolumeContent;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/// The volumes of this machine.
public final class Volumes implements NodeVolumes {
    private final VolumeDisks disks;
    private final HostThreads threads;
    private final Predicate<VolumeId> mounted;
    private final long mostBytes;

    /// @param threads   for file work
    /// @param mounted   whether a sandbox has the volume mounted, or will when it is resumed
    /// @param mostBytes of one volume
    public Volumes(VolumeDisks disks, HostThreads threads, Predicate<VolumeId> mounted, long mostBytes) {
        this.disks = disks;
        this.threads = threads;
        this.mounted = mounted;
        this.mostBytes = mostBytes;
    }

    @Override
    public long mostBytes() {
        return mostBytes;
    }

    @Override
    public void create(VolumeId id, long bytes) {
        disks.create(id, bytes);
    }

    @Override
    public void delete(VolumeId id) {
        if (mounted.test(id)) {
            throw new CayException(ErrorKind.CONFLICT, "a sandbox of this machine has volume %s mounted".formatted(id));
        }
        disks.delete(id);
    }

    @Override
    public Set<VolumeId> list() {
        return Set.copyOf(disks.list());
    }

    @Override
    public Map<VolumeId, Long> used() {
        return disks.used();
    }

    @Override
    public VolumeContent content(VolumeId id, TeamId owner) {
        return new VolumeTree(disks.require(id), threads.shareOf(owner::value));
    }
}
