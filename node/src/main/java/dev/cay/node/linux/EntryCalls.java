package dev.cay.node.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Instant;

/// Makes links and special files in an open directory, and sets what an entry has beside its content. No link is
/// followed. As for {@link FileCalls}, only platform threads call these.
public final class EntryCalls {
    public static final int FIFO = 0x1000;
    public static final int CHARACTER_DEVICE = 0x2000;
    public static final int BLOCK_DEVICE = 0x6000;

    private static final NativeCall MKNODAT = NativeCall.of("mknodat");
    private static final NativeCall LINKAT = NativeCall.of("linkat");
    private static final NativeCall SYMLINKAT = NativeCall.of("symlinkat");
    private static final NativeCall READLINKAT = NativeCall.wide("readlinkat");
    private static final NativeCall FCHOWNAT = NativeCall.of("fchownat");
    private static final NativeCall FCHMODAT = NativeCall.of("fchmodat");
    private static final NativeCall UTIMENSAT = NativeCall.of("utimensat");
    private static final NativeCall FUTIMENS = NativeCall.of("futimens");

    private static final int AT_SYMLINK_NOFOLLOW = 0x100;
    private static final int PATH_MAX = 4096;

    private EntryCalls() {}

    /// Makes a FIFO or a device.
    ///
    /// @param mode type and permissions together; the process's mask takes bits away
    public static void makeNode(Descriptor directory, String name, int mode, int major, int minor)
            throws ErrnoException {
        long device = ((major & 0xfffff000L) << 32)
                | ((major & 0xfffL) << 8)
                | ((minor & 0xffffff00L) << 12)
                | (minor & 0xffL);
        int fd = directory.use("mknodat");
        try (var arena = Arena.ofConfined()) {
            MKNODAT.call(arena, fd, FileCalls.text(arena, name), mode, device);
        } finally {
            directory.done();
        }
    }

    /// Makes the mark by which overlayfs hides a name of the layers below.
    public static void makeWhiteout(Descriptor directory, String name) throws ErrnoException {
        makeNode(directory, name, CHARACTER_DEVICE, 0, 0);
    }

    /// Gives an entry another name. A symbolic link gets the other name itself.
    public static void link(Descriptor from, String name, Descriptor to, String newName) throws ErrnoException {
        int source = from.use("linkat");
        try (var arena = Arena.ofConfined()) {
            int target = to.use("linkat");
            try {
                LINKAT.call(arena, source, FileCalls.text(arena, name), target, FileCalls.text(arena, newName), 0);
            } finally {
                to.done();
            }
        } finally {
            from.done();
        }
    }

    public static void symlink(String target, Descriptor directory, String name) throws ErrnoException {
        int fd = directory.use("symlinkat");
        try (var arena = Arena.ofConfined()) {
            SYMLINKAT.call(arena, FileCalls.text(arena, target), fd, FileCalls.text(arena, name));
        } finally {
            directory.done();
        }
    }

    public static String readLink(Descriptor directory, String name) throws ErrnoException {
        int fd = directory.use("readlinkat");
        try (var arena = Arena.ofConfined()) {
            MemorySegment target = arena.allocate(PATH_MAX);
            long length = READLINKAT.call(arena, fd, FileCalls.text(arena, name), target.address(), PATH_MAX);
            return FileCalls.string(target, 0, length);
        } finally {
            directory.done();
        }
    }

    public static void setOwner(Descriptor directory, String name, int uid, int gid) throws ErrnoException {
        int fd = directory.use("fchownat");
        try (var arena = Arena.ofConfined()) {
            long user = Integer.toUnsignedLong(uid);
            long group = Integer.toUnsignedLong(gid);
            FCHOWNAT.call(arena, fd, FileCalls.text(arena, name), user, group, AT_SYMLINK_NOFOLLOW);
        } finally {
            directory.done();
        }
    }

    /// Sets permissions with set-id and sticky bits. The entry must not be a symbolic link: the kernel would follow
    /// it.
    public static void setMode(Descriptor directory, String name, int mode) throws ErrnoException {
        int fd = directory.use("fchmodat");
        try (var arena = Arena.ofConfined()) {
            FCHMODAT.call(arena, fd, FileCalls.text(arena, name), mode, 0);
        } finally {
            directory.done();
        }
    }

    /// Sets the times of last access and last modification, both to the same.
    public static void setModified(Descriptor directory, String name, Instant time) throws ErrnoException {
        int fd = directory.use("utimensat");
        try (var arena = Arena.ofConfined()) {
            long times = times(arena, time);
            UTIMENSAT.call(arena, fd, FileCalls.text(arena, name), times, AT_SYMLINK_NOFOLLOW);
        } finally {
            directory.done();
        }
    }

    /// Sets the time of an open file or directory.
    public static void setModified(Descriptor file, Instant time) throws ErrnoException {
        int fd = file.use("futimens");
        try (var arena = Arena.ofConfined()) {
            FUTIMENS.call(arena, fd, times(arena, time));
        } finally {
            file.done();
        }
    }

    private static long times(Arena arena, Instant time) {
        long seconds = time.getEpochSecond();
        long nanos = time.getNano();
        return arena.allocateFrom(ValueLayout.JAVA_LONG, seconds, nanos, seconds, nanos)
                .address();
    }
}
