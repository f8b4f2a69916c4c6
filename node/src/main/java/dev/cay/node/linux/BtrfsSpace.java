package dev.cay.node.linux;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;

/// The free space of a mounted btrfs, by the kernel's current counters. `statfs` includes neither data that is only in
/// memory yet, nor how much space is left for metadata, without which nothing can be changed any more, not even
/// deleted.
public final class BtrfsSpace {
    private static final long FS_INFO = 0x8400_941fL;
    private static final int FS_INFO_LENGTH = 1024;
    private static final int FSID_OFFSET = 16;
    private static final int FSID_LENGTH = 16;
    private static final int SECTOR = 512;
    private static final List<String> KINDS = List.of("data", "metadata", "system");

    private final Path accounts;

    private BtrfsSpace(Path accounts) {
        this.accounts = accounts;
    }

    /// @param path anywhere in the file system
    public static BtrfsSpace of(Path path) throws ErrnoException {
        try (var directory = FileCalls.open(path.toString(), FileCalls.READ | FileCalls.DIRECTORY, 0);
                var arena = Arena.ofConfined()) {
            MemorySegment info = arena.allocate(FS_INFO_LENGTH, 8);
            BtrfsQuotas.ioctl(arena, directory, FS_INFO, info);
            byte[] id = info.asSlice(FSID_OFFSET, FSID_LENGTH).toArray(ValueLayout.JAVA_BYTE);
            String hex = HexFormat.of().formatHex(id);
            return new BtrfsSpace(Path.of(
                    "/sys/fs/btrfs",
                    String.join(
                            "-",
                            hex.substring(0, 8),
                            hex.substring(8, 12),
                            hex.substring(12, 16),
                            hex.substring(16, 20),
                            hex.substring(20))));
        }
    }

    /// Bytes that were written or reserved and are only in memory yet; `statfs` counts them as free.
    public long unwritten() throws IOException {
        return account("data", "bytes_may_use") + account("data", "bytes_reserved");
    }

    /// Bytes that metadata can still take, in its own chunks and in what belongs to none yet. What the kernel has
    /// promised to changes under way is not taken off: it promises many times of what they need.
    public long freeForMetadata() throws IOException {
        long reserve = number(accounts.resolve("allocation/global_rsv_size"));
        return account("metadata", "total_bytes") - account("metadata", "bytes_used") - reserve + unallocated();
    }

    /// Bytes that belong to no chunk yet, neither of data nor of metadata.
    public long unallocated() throws IOException {
        long size = 0;
        try (var devices = Files.newDirectoryStream(accounts.resolve("devices"))) {
            for (Path device : devices) {
                size += number(device.resolve("size")) * SECTOR;
            }
        }
        for (String kind : KINDS) {
            size -= account(kind, "disk_total");
        }
        return Math.max(0, size);
    }

    private long account(String kind, String name) throws IOException {
        return number(accounts.resolve("allocation").resolve(kind).resolve(name));
    }

    private static long number(Path file) throws IOException {
        return Long.parseLong(Files.readString(file).strip());
    }
}
