package dev.cay.node.storage;

import dev.cay.node.host.Mounts;
import dev.cay.node.runtime.GuestProgram;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import dev.cay.wire.VolumeId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// What the pool below a state directory is made on, for operators: a file with a btrfs of its own, or a directory.
/// Works whether or not a daemon uses the pool.
public final class PoolDevice {
    private static final long MIB = 1L << 20;
    private static final long GIB = 1L << 30;

    private final Path stateDir;
    private final Path root;
    private final PoolMount mount;

    /// How large the pool is and who fills it.
    ///
    /// @param file    where it lies; null when it is a directory of the host's own file system
    /// @param mounted without it, only the size of the file is known
    /// @param heldBack bytes that are neither free nor used, but kept for pauses
    public record Report(
            @Nullable Path file,
            boolean mounted,
            long size,
            long free,
            long heldBack,
            Map<SandboxId, Long> sandboxes,
            Map<VolumeId, Long> volumes) {
        public Report {
            sandboxes = Map.copyOf(sandboxes);
            volumes = Map.copyOf(volumes);
        }
    }

    public PoolDevice(Path stateDir) {
        this.stateDir = stateDir;
        this.root = Pool.root(stateDir);
        this.mount = PoolMount.at(stateDir, root);
    }

    /// Looks at the pool as it is, and changes nothing.
    public Report report(GuestProgram guest) {
        requirePool();
        try {
            Path file = mount.isFile() ? mount.file() : null;
            if (file != null && !Mounts.isMountPoint(root)) {
                return new Report(file, false, Files.size(file), 0, 0, Map.of(), Map.of());
            }
            var pool = Pool.at(root, PoolMount.isBtrfs(root), guest);
            var used = new HashMap<SandboxId, Long>();
            pool.list().forEach(id -> used.put(id, pool.used(id)));
            return new Report(
                    file,
                    true,
                    Files.getFileStore(root).getTotalSpace(),
                    pool.free(),
                    pool.heldBack(),
                    used,
                    pool.volumes().used());
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "cannot look at the pool in " + stateDir, e);
        }
    }

    /// Makes the pool larger, also while sandboxes use it.
    public void grow(long bytes) {
        requirePool();
        if (!mount.isFile()) {
            throw new CayException(
                    ErrorKind.CONFLICT,
                    "the pool is a directory on the file system of %s and is as large as that; make that one larger"
                            .formatted(stateDir));
        }
        try {
            long now = Files.size(mount.file());
            if (bytes < now) {
                throw new CayException(
                        ErrorKind.INVALID_ARGUMENT,
                        "the pool has %d MB already and cannot be made smaller".formatted(now / MIB));
            }
            var disk = Files.getFileStore(stateDir);
            long spare = Math.min(GIB, disk.getTotalSpace() / 20);
            if (bytes - now > disk.getUsableSpace() - spare) {
                throw new CayException(
                        ErrorKind.UNAVAILABLE,
                        "the disk of %s has %d MB free, of which %d MB must stay; the pool would need %d MB more"
                                .formatted(stateDir, disk.getUsableSpace() / MIB, spare / MIB, (bytes - now) / MIB));
            }
            mount.grow(bytes);
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "cannot make the pool in %s larger".formatted(stateDir), e);
        }
    }

    /// Unmounts and detaches whatever there is of the pool; content stays.
    public void takeOff() {
        if (!Files.isDirectory(root)) {
            return;
        }
        Mounts.unmountBelow(root);
        PoolMount.unmount(root);
        try {
            mount.detachIdle();
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "cannot detach the pool of " + stateDir, e);
        }
    }

    private void requirePool() {
        if (!Files.isDirectory(root)) {
            throw new CayException(
                    ErrorKind.NOT_FOUND,
                    "there is no pool in %s yet: `cay up` makes it, with storage.poolSizeMB".formatted(stateDir));
        }
    }
}
