package dev.cay.node.storage;

import dev.cay.life.RootOnly;
import dev.cay.node.runtime.Command;
import dev.cay.node.runtime.GuestProgram;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/// The disk that all sandboxes share: on btrfs one subvolume with a hard limit for each.
///
/// If the state directory is on btrfs, the pool is a directory there; otherwise it is a file of fixed size with a btrfs
/// of its own, mounted through a loop device. Without btrfs, disks are plain directories without a limit, and {@link
/// #limited} says so.
public final class Pool {
    private static final Duration SYNC_LIMIT = Duration.ofMinutes(10);
    private static final long MIB = 1L << 20;
    private static final String SANDBOXES = "sandboxes";
    private static final String HELD_BACK = "held-back";
    private static final String VOLUMES = "volumes";
    private final Path root;
    private final Disks disks;
    private final FreeSpace space;
    private final HeldBack heldBack;
    private final VolumeDisks volumes;

    private Pool(Path root, Disks disks) {
        this.root = root;
        this.disks = disks;
        this.space = new FreeSpace(root, disks.limited());
        this.volumes = new VolumeDisks(root.resolve(VOLUMES), disks, () -> space.require("volume"));
        this.heldBack = new HeldBack(root.resolve(HELD_BACK), () -> space.spare() - space.reserve());
    }

    static Path root(Path stateDir) {
        return stateDir.resolve("pool");
    }

    /// The pool in this directory, whether or not all is there that {@link #open} makes.
    static Pool at(Path root, boolean btrfs, GuestProgram guest) {
        return new Pool(root, btrfs ? new BtrfsDisks(guest) : new DirectoryDisks());
    }

    /// Makes the pool below `stateDir`, or mounts an existing one. It stays mounted when the daemon ends.
    ///
    /// @param guest does the system calls of btrfs
    public static Pool open(Path stateDir, int sizeMB, GuestProgram guest) {
        Path root = root(stateDir);
        try {
            RootOnly.directory(root);
            boolean btrfs = PoolMount.at(stateDir, root).ensure(sizeMB * MIB);
            var pool = at(root, btrfs, guest);
            // What a sandbox makes setuid is root's on this disk, and what it had in memory may be anything: no user of
            // the host may come near. Sandboxes themselves get there by what root mounts or opens for them.
            RootOnly.close(root);
            pool.directory(SANDBOXES);
            pool.directory(HELD_BACK);
            pool.directory(VOLUMES);
            return pool;
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "cannot open the pool in " + stateDir, e);
        }
    }

    /// Whether sandboxes are held to their disk size.
    public boolean limited() {
        return disks.limited();
    }

    /// The pool's directory `name` (`layers`, `snapshots`), made when absent. Only a place: no limit, no subvolume.
    public Path directory(String name) {
        Path directory = root.resolve(name);
        try {
            return Files.createDirectories(directory);
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "cannot make " + directory, e);
        }
    }

    /// Makes an empty writable layer: a directory with `upper/` and `work/`. Refuses with UNAVAILABLE when the pool is
    /// nearly full.
    public Path create(SandboxId id, int limitMB) {
        space.require("sandbox");
        Path layer = layer(id);
        disks.create(layer, limitMB * MIB);
        return layer;
    }

    /// The directory of a disk, whether or not it exists.
    public Path layer(SandboxId id) {
        return root.resolve(SANDBOXES).resolve(id.value());
    }

    /// Copies a disk to a place in the pool, on btrfs at once whatever its size. The source must not be written
    /// meanwhile (frozen, or not running).
    public void save(SandboxId id, Path place, int limitMB) {
        disks.copy(layer(id), place, limitMB * MIB);
    }

    /// Makes a new layer with the content of what {@link #save} made.
    public Path bring(Path saved, SandboxId id, int limitMB) {
        space.require("sandbox");
        Path layer = layer(id);
        disks.copy(saved, layer, limitMB * MIB);
        return layer;
    }

    /// Files that outlive sandboxes.
    public VolumeDisks volumes() {
        return volumes;
    }

    /// Makes an empty disk at a place in the pool, for unpacking.
    ///
    /// @return whether its inode numbers start again, so that those of another disk can be reproduced
    public boolean makeEmpty(Path place, long limit) {
        disks.createEmpty(place, limit);
        return disks.limited();
    }

    /// Unknown ids are fine.
    public void delete(SandboxId id) {
        deleteSaved(layer(id));
    }

    /// Deletes a copy that {@link #save} made, if it exists.
    public void deleteSaved(Path saved) {
        if (Files.exists(saved)) {
            disks.delete(saved);
        }
    }

    /// Returns when all that was written to the pool so far outlives a loss of power.
    public void sync() {
        new Command("writing the pool to the disk", SYNC_LIMIT, "sync", "-f", root.toString()).run();
    }

    /// Compresses files, if the disk can do that; they read as before. Takes long.
    public void compress(Path directory) {
        if (disks.limited()) {
            new Command(
                            "compressing what was saved",
                            SYNC_LIMIT,
                            "nice",
                            "-n19",
                            "btrfs",
                            "filesystem",
                            "defragment",
                            "-r",
                            "-czstd",
                            directory.toString())
                    .run();
        }
    }

    /// All disks, for finding those without a sandbox.
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
        return disks.used(layer(id));
    }

    /// The sizes of all disks at once; unknown ones are left out.
    public Map<SandboxId, Long> used() {
        var used = new HashMap<SandboxId, Long>();
        disks.usedBelow(root.resolve(SANDBOXES))
                .forEach((layer, bytes) -> SandboxId.among(
                                Stream.of(layer.getFileName().toString()))
                        .forEach(id -> used.put(id, bytes)));
        return used;
    }

    /// Bytes that each of these holds, which {@link #save} made; without those not known.
    public Map<Path, Long> usedBySaved(Collection<Path> saved) {
        return disks.used(saved);
    }

    /// The size of the shared disk.
    public long size() {
        return space.size();
    }

    /// Bytes still free for all.
    public long free() {
        return space.free();
    }

    /// What is left for all.
    FreeSpace space() {
        return space;
    }

    /// Takes the pool off the host and frees its loop device; content stays. For `down --all`: layers in use refuse it.
    public void unmount() {
        PoolMount.unmount(root);
    }

    /// Checks that so many bytes can be written without filling the pool; else fails with UNAVAILABLE.
    public PoolSpace room(long bytes) {
        requireRoom(bytes, 0);
        return () -> {};
    }

    private void requireRoom(long bytes, long heldBack) {
        long free = free();
        if (bytes > heldBack && free + heldBack - bytes < space.reserve()) {
            throw new CayException(
                    ErrorKind.UNAVAILABLE,
                    "this machine has no room to save the sandbox: that takes %d MB, and %d MB are left in its pool; kill sandboxes, or let the operator run `cay pool grow`"
                            .formatted(bytes / MIB, (free + heldBack) / MIB));
        }
    }

    /// Holds back so many bytes for saving each of these sandboxes, and nothing for others. File work.
    public void holdBack(Map<SandboxId, Long> bytes) {
        if (limited()) {
            heldBack.hold(bytes);
        }
    }

    /// Bytes that are held back for saving sandboxes.
    long heldBack() {
        return heldBack.bytes();
    }

    /// Room for saving one sandbox, with what is held back for it. Refuses like {@link #room}.
    ///
    /// @return close it when the sandbox is saved
    public PoolSpace roomFor(SandboxId id, long bytes) {
        var room = heldBack.spend(id);
        try {
            requireRoom(bytes, room.bytes());
            return room;
        } catch (CayException e) {
            room.close();
            throw e;
        }
    }

    /// Changes how many bytes a layer may hold. If it holds more already, its sandbox cannot write (EDQUOT).
    void limit(SandboxId id, long bytes) {
        disks.limit(layer(id), bytes);
    }
}
