package dev.cay.node.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashMap;
import java.util.Map;

/// Reads the sizes of all btrfs subvolumes in a few calls, and sets limits. The calls may block on a disk: call them
/// only on platform threads.
public final class BtrfsQuotas {
    private static final NativeCall IOCTL = NativeCall.variadic("ioctl", 2);

    private static final long TREE_SEARCH = 0xd000_9411L;
    private static final long INODE_LOOKUP = 0xd000_9412L;
    private static final long QGROUP_LIMIT = 0x8030_942bL;
    private static final int ARGUMENTS = 4096;
    private static final long QUOTA_TREE = 8;
    private static final int QUOTA_INFO = 242;
    private static final long FIRST_INODE = 256;
    /// Groups of groups have their level up there.
    private static final long LEVEL_0 = 1L << 48;

    // Offsets of the search's fields, results and their parts.
    private static final int MIN_OFFSET = 24;
    private static final int MAX_OFFSET = 32;
    private static final int MAX_TRANSACTION = 48;
    private static final int MIN_TYPE = 56;
    private static final int MAX_TYPE = 60;
    private static final int ITEMS = 64;
    private static final int RESULTS = 104;
    private static final int RESULT_HEADER = 32;
    private static final int RESULT_OFFSET = 16;
    private static final int RESULT_LENGTH = 28;
    private static final int REFERENCED = 8;
    private static final int INFO_LENGTH = 40;

    // Length of a limit: its flags and the bytes that may be referenced.
    private static final int LIMIT_LENGTH = 48;
    private static final int LIMIT_FLAGS = 8;
    private static final int LIMIT_REFERENCED = 16;
    private static final long LIMITS_REFERENCED = 1;

    private BtrfsQuotas() {}

    /// The number of the subvolume at this path.
    public static long subvolume(String path) throws ErrnoException {
        try (var directory = FileCalls.open(path, FileCalls.READ | FileCalls.DIRECTORY | FileCalls.NOFOLLOW, 0);
                var arena = Arena.ofConfined()) {
            MemorySegment lookup = arena.allocate(ARGUMENTS, 8);
            lookup.set(ValueLayout.JAVA_LONG, 8, FIRST_INODE);
            ioctl(arena, directory, INODE_LOOKUP, lookup);
            return lookup.get(ValueLayout.JAVA_LONG, 0);
        }
    }

    /// Changes how many bytes a subvolume may refer to. If it refers to more, it cannot grow.
    ///
    /// @param path   in the file system, but not in the subvolume: one that is full refuses also this change
    /// @param number of the subvolume
    public static void limit(String path, long number, long bytes) throws ErrnoException {
        try (var directory = FileCalls.open(path, FileCalls.READ | FileCalls.DIRECTORY | FileCalls.NOFOLLOW, 0);
                var arena = Arena.ofConfined()) {
            MemorySegment limit = arena.allocate(LIMIT_LENGTH, 8);
            limit.set(ValueLayout.JAVA_LONG, 0, number);
            limit.set(ValueLayout.JAVA_LONG, LIMIT_FLAGS, LIMITS_REFERENCED);
            limit.set(ValueLayout.JAVA_LONG, LIMIT_REFERENCED, bytes);
            ioctl(arena, directory, QGROUP_LIMIT, limit);
        }
    }

    /// Bytes that each subvolume refers to, by its number, as of the file system's last commit.
    ///
    /// @param path anywhere in the file system
    public static Map<Long, Long> referenced(String path) throws ErrnoException {
        var found = new HashMap<Long, Long>();
        try (var directory = FileCalls.open(path, FileCalls.READ | FileCalls.DIRECTORY, 0);
                var arena = Arena.ofConfined()) {
            MemorySegment search = arena.allocate(ARGUMENTS, 8);
            for (long from = 0; from < LEVEL_0; ) {
                prepare(search, from);
                ioctl(arena, directory, TREE_SEARCH, search);
                int items = search.get(ValueLayout.JAVA_INT, ITEMS);
                if (items == 0) {
                    break;
                }
                from = read(search, items, found) + 1;
            }
        }
        return found;
    }

    private static void prepare(MemorySegment search, long from) {
        search.fill((byte) 0);
        search.set(ValueLayout.JAVA_LONG, 0, QUOTA_TREE);
        search.set(ValueLayout.JAVA_LONG, MIN_OFFSET, from);
        search.set(ValueLayout.JAVA_LONG, MAX_OFFSET, LEVEL_0 - 1);
        search.set(ValueLayout.JAVA_LONG, MAX_TRANSACTION, -1);
        search.set(ValueLayout.JAVA_INT, MIN_TYPE, QUOTA_INFO);
        search.set(ValueLayout.JAVA_INT, MAX_TYPE, QUOTA_INFO);
        search.set(ValueLayout.JAVA_INT, ITEMS, Integer.MAX_VALUE);
    }

    /// @return the last group of the results
    private static long read(MemorySegment search, int items, Map<Long, Long> found) {
        long at = RESULTS;
        long group = 0;
        for (int i = 0; i < items; i++) {
            group = search.get(ValueLayout.JAVA_LONG_UNALIGNED, at + RESULT_OFFSET);
            int length = search.get(ValueLayout.JAVA_INT_UNALIGNED, at + RESULT_LENGTH);
            if (length >= INFO_LENGTH) {
                found.put(group, search.get(ValueLayout.JAVA_LONG_UNALIGNED, at + RESULT_HEADER + REFERENCED));
            }
            at += RESULT_HEADER + length;
        }
        return group;
    }

    static void ioctl(Arena arena, Descriptor directory, long request, MemorySegment argument) throws ErrnoException {
        int fd = directory.use("ioctl");
        try {
            IOCTL.call(arena, fd, request, argument.address());
        } finally {
            directory.done();
        }
    }
}
