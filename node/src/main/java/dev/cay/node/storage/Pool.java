package dev.cay.node.storage;

import dev.cay.node.runtime.Command;
import dev.cay.node.runtime.GuestProgram;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/// The disk all sandboxes share: on btrfs one subvolume with a hard limit for each.
///
/// If the state directory lies on btrfs the pool is a directory there; otherwise it is a file of fixed size with a
/// btrfs of its own, mounted through a loop device. Without btrfs the layers are plain directories: no disk limit, and
/// {@link #limited} says so.
public final class Pool {
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final long MIB = 1L << 20;
    private static final long GIB = 1L << 30;
    private static final String SANDBOXES = "sandboxes";

    private final Path root;
    private final Volumes volumes;

    private Pool(Path root, Volumes volumes) {
        this.root = root;
        this.volumes = volumes;
    }

    /// Makes the pool below `stateDir`, or mounts the one that is there. It stays mounted when the daemon ends.
    ///
    /// @param guest does the system calls of btrfs
    public static Pool open(Path stateDir, int sizeMB, GuestProgram guest) {
        Path root = stateDir.resolve("pool");
        try {
            Files.createDirectories(root);
            boolean btrfs = PoolMount.at(stateDir, root).ensure(sizeMB * MIB);
            var pool = new Pool(root, btrfs ? new BtrfsVolumes(guest) : new DirectoryVolumes());
            // A sandbox's root is nobody special out here, and has to find its checkpoint.
            Files.setPosixFilePermissions(root, PosixFilePermissions.fromString("rwx--x--x"));
            // What it makes setuid, however, is root's on this disk: no user of the host may come near. Sandboxes
            // themselves get there by mounts that root makes for them.
            Files.setPosixFilePermissions(pool.directory(SANDBOXES), PosixFilePermissions.fromString("rwx------"));
            return pool;
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "cannot open the pool in " + stateDir, e);
        }
    }

    /// Whether sandboxes are held to their disk size.
    public boolean limited() {
        return volumes.limited();
    }

    /// The pool's directory `name` (`layers`, `snapshots`), made when absent. Only a place: no limit, no subvolume.
    public Path directory(String name) {
        Path directory = root.resolve(name);
        try {
            Files.createDirectories(directory);
            Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx--x--x"));
            return directory;
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "cannot make " + directory, e);
        }
    }

    /// Makes an empty writable layer: a directory with `upper/` and `work/`. Refuses with UNAVAILABLE when the pool is
    /// nearly full.
    public Path create(SandboxId id, int limitMB) {
        refuseIfNearlyFull();
        Path layer = layer(id);
        volumes.create(layer, limitMB * MIB);
        return layer;
    }

    /// The layer's place, whether or not it is there.
    public Path layer(SandboxId id) {
        return root.resolve(SANDBOXES).resolve(id.value());
    }

    /// Makes a new layer with the content of another one, on btrfs at once and whatever its size. The source must not
    /// be
    /// written meanwhile (frozen, or not running).
    public Path copy(SandboxId from, SandboxId to, int limitMB) {
        refuseIfNearlyFull();
        Path layer = layer(to);
        volumes.copy(layer(from), layer, limitMB * MIB);
        return layer;
    }

    /// Unknown ids are fine.
    public void delete(SandboxId id) {
        Path layer = layer(id);
        if (Files.exists(layer)) {
            volumes.delete(layer);
        }
    }

    /// Every layer there is, for finding those that nobody owns.
    public List<SandboxId> list() {
        try (var entries = Files.list(root.resolve(SANDBOXES))) {
            return SandboxId.among(entries.map(entry -> entry.getFileName().toString()));
        } catch (NoSuchFileException e) {
            return List.of();
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "cannot list the pool", e);
        }
    }

    /// Bytes the layer holds, up to some seconds old.
    public long used(SandboxId id) {
        return volumes.used(layer(id));
    }

    /// The same of all layers at once; without those not known yet.
    public Map<SandboxId, Long> used() {
        var used = new HashMap<SandboxId, Long>();
        volumes.usedBelow(root.resolve(SANDBOXES))
                .forEach((layer, bytes) -> SandboxId.among(
                                Stream.of(layer.getFileName().toString()))
                        .forEach(id -> used.put(id, bytes)));
        return used;
    }

    /// How large the disk is that all share.
    public long size() {
        try {
            return Files.getFileStore(root).getTotalSpace();
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "cannot read the size of the pool", e);
        }
    }

    /// Bytes still free for all.
    public long free() {
        try {
            return Files.getFileStore(root).getUsableSpace();
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "cannot read the size of the pool", e);
        }
    }

    /// Takes the pool off the host and frees its loop device; content stays. For `down --all`: layers in use refuse it.
    public void unmount() {
        if (PoolMount.isMountPoint(root)) {
            new Command("unmounting the pool", LIMIT, "umount", root.toString()).run();
        }
    }

    /// A full btrfs fails in ways nobody expects, so the last part of it is nobody's.
    private void refuseIfNearlyFull() {
        try {
            long reserve = Math.min(GIB, Files.getFileStore(root).getTotalSpace() / 20);
            if (free() < reserve) {
                throw new CayException(
                        ErrorKind.UNAVAILABLE,
                        "the pool of this node is nearly full: %d MB are left".formatted(free() / MIB));
            }
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "cannot read the size of the pool", e);
        }
    }
}
