package dev.cay.node.storage;

import dev.cay.life.RootOnly;
import dev.cay.node.host.Mounts;
import dev.cay.node.host.Programs;
import dev.cay.node.runtime.Command;
import dev.cay.wire.CayException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Brings a btrfs to the pool's place, if the host can.
final class PoolMount {
    private static final Logger log = LoggerFactory.getLogger(PoolMount.class);
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final Duration ALLOCATION_LIMIT = Duration.ofMinutes(10);

    private static final Duration UNMOUNT_LIMIT = Duration.ofSeconds(30);
    private static final Duration BUSY_LIMIT = Duration.ofSeconds(10);
    private static final Duration BUSY_PAUSE = Duration.ofMillis(100);

    private final Path stateDir;
    private final Path root;
    private final Path file;

    private PoolMount(Path stateDir, Path root) {
        this.stateDir = stateDir;
        this.root = root;
        this.file = stateDir.resolve("pool.btrfs");
    }

    static PoolMount at(Path stateDir, Path root) {
        return new PoolMount(stateDir, root);
    }

    /// Mounts the pool; false if there is no btrfs. An existing pool that cannot be mounted is an error, never a reason
    /// to continue without it: its sandboxes would be lost.
    boolean ensure(long size) throws IOException {
        // Half made by a start that was killed.
        Files.deleteIfExists(fresh());
        detachIdle();
        if (!Mounts.isMountPoint(root) && !Files.exists(file) && !isBtrfs(stateDir)) {
            if (!supported()) {
                log.atWarn()
                        .log("no btrfs on this host: sandboxes have no disk limit, and forking one copies its files");
                return false;
            }
            makeFile(size);
        }
        if (Files.exists(file)) {
            RootOnly.close(file);
        }
        if (Files.exists(file)) {
            mount();
        }
        if (!isBtrfs(root)) {
            return false;
        }
        // Each time: a process that mounted it, or enlarged the file, may have been killed before these lines.
        enableQuota();
        fit();
        return true;
    }

    /// Whether the pool is a file, and not a directory of the host's own btrfs.
    boolean isFile() {
        return Files.exists(file);
    }

    Path file() {
        return file;
    }

    /// Makes the file larger, and the file system in it if that is mounted; otherwise the next mount does so.
    void grow(long size) throws IOException {
        reserve(size, file);
        if (Mounts.isMountPoint(root)) {
            fit();
        }
    }

    /// Grows the file system to the size of its file.
    private void fit() throws IOException {
        if (!isFile() || Files.size(file) <= Files.getFileStore(root).getTotalSpace()) {
            return;
        }
        for (String device : devices()) {
            new Command("telling the kernel of the larger pool", LIMIT, "losetup", "--set-capacity", device).run();
        }
        new Command("growing the pool", LIMIT, "btrfs", "filesystem", "resize", "max", root.toString()).run();
    }

    /// Unmounts the pool, if it is mounted. A program that was killed a moment ago may still have files open.
    static void unmount(Path root) {
        long end = System.nanoTime() + BUSY_LIMIT.toNanos();
        while (Mounts.isMountPoint(root)) {
            try {
                new Command("unmounting the pool", UNMOUNT_LIMIT, "umount", root.toString()).run();
            } catch (CayException e) {
                if (System.nanoTime() > end || Thread.currentThread().isInterrupted()) {
                    throw e;
                }
                LockSupport.parkNanos(BUSY_PAUSE.toNanos());
            }
        }
    }

    /// A mount that was cut short may leave a device that nobody uses.
    void detachIdle() throws IOException {
        if (isFile() && !Mounts.isMountPoint(root)) {
            for (String device : devices()) {
                log.atWarn().addKeyValue("device", device).log("detaching an unused loop device of the pool");
                new Command("detaching the pool's device", LIMIT, "losetup", "--detach", device).run();
            }
        }
    }

    private List<String> devices() {
        String listed = new Command(
                        "looking for the pool's device",
                        LIMIT,
                        "losetup",
                        "--list",
                        "--noheadings",
                        "--output",
                        "NAME",
                        "--associated",
                        file.toString())
                .run();
        return listed.lines()
                .map(String::strip)
                .filter(line -> line.startsWith("/dev/"))
                .toList();
    }

    private Path fresh() {
        return stateDir.resolve("pool.btrfs.new");
    }

    static boolean isBtrfs(Path directory) throws IOException {
        return Files.getFileStore(directory).type().equals("btrfs");
    }

    /// The module may not be loaded yet.
    private static boolean supported() throws IOException {
        if (Programs.find("mkfs.btrfs").isEmpty()) {
            return false;
        }
        Path known = Path.of("/proc/filesystems");
        if (!Files.readString(known).contains("btrfs")
                && Programs.find("modprobe").isPresent()) {
            try {
                new Command("loading btrfs", LIMIT, "modprobe", "btrfs").run();
            } catch (CayException e) {
                log.atDebug().setCause(e).log("the btrfs module could not be loaded");
            }
        }
        return Files.readString(known).contains("btrfs");
    }

    /// Allocated beforehand: a pool that finds the host's disk full in the middle of a write loses data. Made under
    /// another name, so that a half made one is never mounted.
    private void makeFile(long size) throws IOException {
        reserve(size, fresh());
        // Small files are stored in the metadata. Duplicated metadata would use twice as much as the quota of their
        // sandbox counts.
        new Command("formatting the pool", LIMIT, "mkfs.btrfs", "-q", "-m", "single", fresh().toString()).run();
        Files.move(fresh(), file, StandardCopyOption.ATOMIC_MOVE);
    }

    /// The disks of all sandboxes are in it, so only root may read it, from the first moment.
    private static void reserve(long size, Path file) throws IOException {
        RootOnly.file(file);
        new Command(
                        "reserving the pool's space",
                        ALLOCATION_LIMIT,
                        "fallocate",
                        "-l",
                        Long.toString(size),
                        file.toString())
                .run();
    }

    /// Mounts without discard, which would return the reserved space to the host; without set-uid programs and
    /// devices, because those of sandboxes would be valid for the host's users. Overlays on it are not affected.
    /// Metadata has chunks of its own: where data has taken all chunks, the file system refuses every change, also
    /// deletions.
    ///
    /// An older version may have mounted it already.
    private void mount() {
        String options = "noatime,nodiscard,nosuid,nodev,metadata_ratio=4";
        if (Mounts.isMountPoint(root)) {
            new Command("mounting the pool", LIMIT, "mount", "-o", "remount," + options, root.toString()).run();
            return;
        }
        new Command(
                        "mounting the pool",
                        LIMIT,
                        "mount",
                        "-t",
                        "btrfs",
                        "-o",
                        "loop," + options,
                        "--make-private",
                        file.toString(),
                        root.toString())
                .run();
    }

    private void enableQuota() {
        new Command("enabling the pool's limits", LIMIT, "btrfs", "quota", "enable", root.toString()).run();
    }
}
