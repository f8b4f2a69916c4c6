package dev.cay.node.storage;

import dev.cay.node.linux.BtrfsSpace;
import dev.cay.node.runtime.Command;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// What is left of the disk that all sandboxes share.
///
/// @param root    of the pool
/// @param limited whether sandboxes are held to their disk size, as on btrfs
record FreeSpace(Path root, boolean limited) {
    private static final Logger log = LoggerFactory.getLogger(FreeSpace.class);
    private static final Duration BALANCE_LIMIT = Duration.ofMinutes(10);
    private static final long MIB = 1L << 20;
    private static final long GIB = 1L << 30;

    /// Metadata needs less than a sixteenth of what data does, unless files are very small.
    private static final int METADATA_PART = 16;

    /// Chunks that hold less than so many percent are emptied for metadata.
    private static final int NEARLY_EMPTY = 30;

    /// The size of the shared disk.
    long size() {
        return root.toFile().getTotalSpace();
    }

    /// Bytes still free for all. By the old class, which asks the kernel at once; the newer one reads the list of
    /// mounts.
    long free() {
        return root.toFile().getUsableSpace();
    }

    /// Whether little space is left for metadata though data has more than it uses: btrfs gives space to one or the
    /// other in chunks, and takes none back that is in use.
    boolean lacksMetadata() {
        try {
            return limited && BtrfsSpace.of(root).freeForMetadata() * METADATA_PART < 2 * reserve() && free() > chunk();
        } catch (IOException e) {
            log.atDebug().setCause(e).log("the free space of the pool cannot be read");
            return false;
        }
    }

    /// Empties a chunk of data that holds little, so that metadata can have it.
    void makeRoomForMetadata() {
        String filter = "-dusage=%d,limit=1".formatted(NEARLY_EMPTY);
        new Command(
                        "making room for the pool's metadata",
                        BALANCE_LIMIT,
                        "btrfs",
                        "balance",
                        "start",
                        filter,
                        root.toString())
                .run();
    }

    /// Changes something of no meaning. Metadata gets its next chunk when something is changed.
    void touch() {
        try {
            Files.delete(Files.createTempFile(root, ".touch", ""));
        } catch (IOException e) {
            log.atDebug().setCause(e).log("the pool cannot be changed");
        }
    }

    /// How much sandboxes can still write before the pool is full. Less than {@link #free} by data that is only in
    /// memory, by future metadata, and where little space is left for metadata.
    long spare() {
        long free = free();
        if (!limited) {
            return free;
        }
        try {
            var space = BtrfsSpace.of(root);
            long data = free - space.unwritten() - Math.min(space.unallocated(), chunk());
            return Math.min(data, space.freeForMetadata() * METADATA_PART);
        } catch (IOException e) {
            log.atDebug().setCause(e).log("the free space of the pool cannot be read");
            return free;
        }
    }

    /// The most that btrfs gives to metadata at once; it may take the last of the pool for that.
    private long chunk() {
        return Math.min(GIB, size() / 10);
    }

    /// The last part of the pool, which is never used.
    long reserve() {
        return Math.min(GIB, size() / 20);
    }

    /// Fails if the pool is nearly full. A full btrfs fails in unexpected ways, so its last part is never used.
    void require(String what) {
        long free = Math.max(0, spare());
        if (free < reserve()) {
            throw new CayException(
                    ErrorKind.UNAVAILABLE,
                    "this machine has no room for another %s: its pool is nearly full, %d MB are left; kill sandboxes, or let the operator run `cay pool grow`"
                            .formatted(what, free / MIB));
        }
    }
}
