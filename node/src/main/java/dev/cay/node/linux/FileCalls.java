package dev.cay.node.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Files relative to an open directory. They may block on a disk: only platform threads call them.
public final class FileCalls {
    public static final int READ = 0;
    public static final int WRITE = 1;
    public static final int READ_WRITE = 2;
    public static final int CREATE = 0x40;
    public static final int EXCLUSIVE = 0x80;
    public static final int NOCTTY = 0x100;
    public static final int NONBLOCK = 0x800;
    public static final int CLOEXEC = 0x80000;
    /// Names the file without opening it.
    public static final int PATH = 0x200000;

    public static final int LISTED_UNKNOWN = 0;
    public static final int LISTED_DIRECTORY = 4;

    public static final int DIRECTORY = Cpu.HERE.directory();
    public static final int NOFOLLOW = Cpu.HERE.noFollow();

    private static final NativeCall OPEN = NativeCall.variadic("open64", 2);
    private static final NativeCall OPENAT2 = NativeCall.raw("openat2");
    private static final NativeCall STATX = NativeCall.of("statx");
    private static final NativeCall FSTATFS = NativeCall.of("fstatfs64");
    private static final NativeCall MKDIRAT = NativeCall.of("mkdirat");
    private static final NativeCall UNLINKAT = NativeCall.of("unlinkat");
    private static final NativeCall RENAMEAT2 = NativeCall.of("renameat2");
    private static final NativeCall READLINK = NativeCall.wide("readlink");
    private static final NativeCall GETDENTS = NativeCall.wide("getdents64");
    private static final NativeCall COPY = NativeCall.wide("copy_file_range");
    private static final NativeCall FALLOCATE = NativeCall.of("fallocate");
    private static final NativeCall FCHOWN = NativeCall.of("fchown");
    private static final NativeCall FCHMOD = NativeCall.of("fchmod");

    private static final int SYS_OPENAT2 = 437;
    private static final int NO_XDEV = 0x01;
    private static final int NO_MAGICLINKS = 0x02;
    private static final int BENEATH = 0x08;
    private static final int IN_ROOT = 0x10;
    private static final int NO_SYMLINKS = 0x04;
    private static final int AT_EMPTY_PATH = 0x1000;
    /// Neither follow a link nor trigger an automount.
    private static final int AT_ENTRY_ITSELF = 0x100 | 0x800;
    private static final int AT_REMOVEDIR = 0x200;
    private static final int STATX_BASIC = 0x7ff;
    private static final int STATX_SIZE = 256;
    private static final int PATH_MAX = 4096;

    private FileCalls() {}

    /// Opens a path of the host, as the daemon sees it.
    public static Descriptor open(String path, int flags, int mode) throws ErrnoException {
        try (var arena = Arena.ofConfined()) {
            return new Descriptor(OPEN.call(arena, text(arena, path), flags | CLOEXEC, mode));
        }
    }

    /// Gives the file so many bytes of the disk; they read as zeros.
    public static void allocate(Descriptor file, long bytes) throws ErrnoException {
        int fd = file.use("fallocate");
        try {
            FALLOCATE.call(fd, 0, 0, bytes);
        } finally {
            file.done();
        }
    }

    /// Opens a path as if `root` were `/`: neither `..` nor a link leads out of it, and magic links of a
    /// procfs are refused.
    public static Descriptor openInRoot(Descriptor root, String path, int flags, int mode) throws ErrnoException {
        return openat2(root, path, flags, mode, IN_ROOT | NO_MAGICLINKS);
    }

    /// Opens an entry of the directory itself: no link is followed. A link can be opened as {@link #PATH}.
    ///
    /// @param mounts whether to enter a file system mounted there, or fail with EXDEV
    public static Descriptor openEntry(Descriptor directory, String name, int flags, boolean mounts)
            throws ErrnoException {
        return openat2(directory, name, flags | NOFOLLOW, 0, BENEATH | NO_MAGICLINKS | (mounts ? 0 : NO_XDEV));
    }

    /// Opens a file below a directory, wherever that directory is now. No link is followed on the way.
    public static Descriptor openBelow(Descriptor directory, String path, int flags) throws ErrnoException {
        return openat2(directory, path, flags | NOFOLLOW, 0, BENEATH | NO_SYMLINKS | NO_MAGICLINKS);
    }

    /// Makes a regular file in a directory; fails if the name is taken.
    public static Descriptor create(Descriptor directory, String name, int mode) throws ErrnoException {
        int flags = READ_WRITE | CREATE | EXCLUSIVE | NOFOLLOW;
        return openat2(directory, name, flags, mode, BENEATH | NO_MAGICLINKS | NO_XDEV);
    }

    /// Opens a file for use that was opened with {@link #PATH}: the very same file, whatever is at its path by now.
    public static Descriptor reopen(Descriptor named, int flags) throws ErrnoException {
        int fd = named.use("open");
        try {
            return open("/proc/self/fd/" + fd, flags, 0);
        } finally {
            named.done();
        }
    }

    private static Descriptor openat2(Descriptor root, String path, int flags, int mode, int resolve)
            throws ErrnoException {
        int fd = root.use("openat2");
        try (var arena = Arena.ofConfined()) {
            MemorySegment how = arena.allocate(24, 8);
            how.set(ValueLayout.JAVA_LONG, 0, Integer.toUnsignedLong(flags | CLOEXEC));
            how.set(ValueLayout.JAVA_LONG, 8, mode);
            how.set(ValueLayout.JAVA_LONG, 16, resolve);
            long name = text(arena, path);
            // A concurrent rename on the way makes the kernel give up for safety; the sandbox can cause that as often
            // as it likes, so the number of retries is small.
            for (int tries = 0; ; tries++) {
                try {
                    return new Descriptor(OPENAT2.call(arena, SYS_OPENAT2, fd, name, how.address(), 24));
                } catch (ErrnoException e) {
                    if (e.errno() != Errno.EAGAIN || tries == 32) {
                        throw e;
                    }
                }
            }
        } finally {
            root.done();
        }
    }

    public static FileStatus stat(Descriptor file) throws ErrnoException {
        return stat(file, "", AT_EMPTY_PATH);
    }

    /// The status of an entry of the directory; of a link itself.
    public static FileStatus stat(Descriptor directory, String name) throws ErrnoException {
        return stat(directory, name, AT_ENTRY_ITSELF);
    }

    /// The same; null if there is no such entry, which costs no more than an existing one.
    public static @Nullable FileStatus find(Descriptor directory, String name) throws ErrnoException {
        return status(directory, name, AT_ENTRY_ITSELF, Errno.ENOENT);
    }

    private static FileStatus stat(Descriptor file, String name, int flags) throws ErrnoException {
        return Objects.requireNonNull(status(file, name, flags, 0));
    }

    /// @param absent the error number for which there is no status
    private static @Nullable FileStatus status(Descriptor file, String name, int flags, int absent)
            throws ErrnoException {
        int fd = file.use("statx");
        try (var arena = Arena.ofConfined()) {
            MemorySegment status = arena.allocate(STATX_SIZE, 8);
            long result = STATX.attempt(arena, fd, text(arena, name), flags, STATX_BASIC, status.address());
            if (result < 0 && -result != absent) {
                throw new ErrnoException("statx", (int) -result);
            }
            return result < 0 ? null : FileStatus.read(status);
        } finally {
            file.done();
        }
    }

    /// The file system's magic number (`f_type`).
    public static long fileSystem(Descriptor file) throws ErrnoException {
        int fd = file.use("fstatfs");
        try (var arena = Arena.ofConfined()) {
            MemorySegment status = arena.allocate(256, 8);
            FSTATFS.call(arena, fd, status.address());
            return status.get(ValueLayout.JAVA_LONG, 0);
        } finally {
            file.done();
        }
    }

    public static void makeDirectory(Descriptor parent, String name, int mode) throws ErrnoException {
        onEntry(MKDIRAT, parent, name, mode);
    }

    public static void removeFile(Descriptor parent, String name) throws ErrnoException {
        onEntry(UNLINKAT, parent, name, 0);
    }

    public static void removeDirectory(Descriptor parent, String name) throws ErrnoException {
        onEntry(UNLINKAT, parent, name, AT_REMOVEDIR);
    }

    private static void onEntry(NativeCall call, Descriptor parent, String name, int argument) throws ErrnoException {
        int fd = parent.use("entry");
        try (var arena = Arena.ofConfined()) {
            call.call(arena, fd, text(arena, name), argument);
        } finally {
            parent.done();
        }
    }

    /// Copies between two regular files inside the kernel, where file systems can.
    ///
    /// @return how many bytes; 0 at the end of the source
    public static long copyRange(Descriptor from, long position, Descriptor to, long target, long length)
            throws ErrnoException {
        int source = from.use("copy_file_range");
        try (var arena = Arena.ofConfined()) {
            int sink = to.use("copy_file_range");
            try {
                MemorySegment offsets = arena.allocateFrom(ValueLayout.JAVA_LONG, position, target);
                return COPY.call(arena, source, offsets.address(), sink, offsets.address() + 8, length, 0);
            } finally {
                to.done();
            }
        } finally {
            from.done();
        }
    }

    public static void rename(Descriptor from, String name, Descriptor to, String newName) throws ErrnoException {
        int source = from.use("renameat2");
        try (var arena = Arena.ofConfined()) {
            int target = to.use("renameat2");
            try {
                RENAMEAT2.call(arena, source, text(arena, name), target, text(arena, newName), 0);
            } finally {
                to.done();
            }
        } finally {
            from.done();
        }
    }

    /// The path of an open file, as a process with the same root sees it.
    public static String pathOf(Descriptor file) throws ErrnoException {
        int fd = file.use("readlink");
        try (var arena = Arena.ofConfined()) {
            MemorySegment target = arena.allocate(PATH_MAX);
            long length = READLINK.call(arena, text(arena, "/proc/self/fd/" + fd), target.address(), PATH_MAX);
            return string(target, 0, length);
        } finally {
            file.done();
        }
    }

    /// Names in a directory but `.` and `..`, in no order. Stops when it has `limit` of them or a few more.
    public static List<String> names(Descriptor directory, int limit) throws ErrnoException {
        var names = new ArrayList<String>();
        for (var more = nextNames(directory); !more.isEmpty() && names.size() < limit; more = nextNames(directory)) {
            names.addAll(more);
        }
        return names;
    }

    /// The next names in a directory that is being read; none when all have been told.
    public static List<String> nextNames(Descriptor directory) throws ErrnoException {
        return nextEntries(directory).stream().map(Listed::name).toList();
    }

    /// A directory entry as the directory lists it.
    ///
    /// @param type {@link #LISTED_DIRECTORY}, another one, or {@link #LISTED_UNKNOWN} if the file system does not
    ///             list it
    public record Listed(String name, int type) {}

    /// The next entries of a directory that is being read; none when all have been told.
    public static List<Listed> nextEntries(Descriptor directory) throws ErrnoException {
        int fd = directory.use("getdents64");
        try (var arena = Arena.ofConfined()) {
            MemorySegment buffer = arena.allocate(32768, 8);
            var entries = new ArrayList<Listed>();
            while (entries.isEmpty()) {
                long filled = GETDENTS.call(arena, fd, buffer.address(), buffer.byteSize());
                if (filled == 0) {
                    break;
                }
                add(buffer.asSlice(0, filled).toArray(ValueLayout.JAVA_BYTE), entries);
            }
            return entries;
        } finally {
            directory.done();
        }
    }

    /// Adds the entries of `struct linux_dirent64` records. Their numbers are little-endian on all supported CPUs.
    private static void add(byte[] records, List<Listed> entries) {
        for (int at = 0; at < records.length; ) {
            int length = Byte.toUnsignedInt(records[at + 16]) + 256 * Byte.toUnsignedInt(records[at + 17]);
            int end = at + 19;
            while (end < at + length && records[end] != 0) {
                end++;
            }
            String name = FileName.text(Arrays.copyOfRange(records, at + 19, end));
            if (!name.equals(".") && !name.equals("..")) {
                entries.add(new Listed(name, records[at + 18]));
            }
            at += length;
        }
    }

    public static void setOwner(Descriptor file, int uid, int gid) throws ErrnoException {
        int fd = file.use("fchown");
        try {
            FCHOWN.call(fd, Integer.toUnsignedLong(uid), Integer.toUnsignedLong(gid));
        } finally {
            file.done();
        }
    }

    public static void setMode(Descriptor file, int mode) throws ErrnoException {
        int fd = file.use("fchmod");
        try {
            FCHMOD.call(fd, mode);
        } finally {
            file.done();
        }
    }

    static long text(Arena arena, String text) throws ErrnoException {
        if (text.indexOf('\0') >= 0) {
            throw new ErrnoException("path", Errno.EINVAL);
        }
        byte[] bytes = FileName.bytes(text);
        MemorySegment segment = arena.allocate(bytes.length + 1L);
        MemorySegment.copy(bytes, 0, segment, ValueLayout.JAVA_BYTE, 0, bytes.length);
        return segment.address();
    }

    static String string(MemorySegment segment, long offset, long length) {
        return FileName.text(segment.asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE));
    }
}
