package dev.cay.node.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Looks at entries of open directories, one after the other, in memory that is allocated once: a list may have a
/// hundred thousand entries. No link is followed. Used by one thread; as for {@link FileCalls}, by a platform thread.
public final class EntryReader implements AutoCloseable {
    private static final NativeCall STATX = NativeCall.of("statx");
    private static final NativeCall LISTXATTRAT = NativeCall.raw("listxattrat");
    private static final NativeCall LLISTXATTR = NativeCall.wide("llistxattr");

    private static final int SYS_LISTXATTRAT = 465;
    private static final int AT_SYMLINK_NOFOLLOW = 0x100;
    private static final int AT_NO_AUTOMOUNT = 0x800;
    private static final int STATX_BASIC = 0x7ff;
    private static final int STATX_SIZE = 256;
    private static final int NAME_SIZE = 4096;

    /// Nearly no file has attributes, and the kernel allocates as much as the caller asks for, at each call.
    private static final int SMALL_LIST = 512;

    private static final int LONGEST_LIST = 65536;

    /// Whether the kernel can list attributes of an entry of an open directory (Linux 6.13). Older ones need a path,
    /// and take twice the time.
    private static volatile boolean kernelListsEntries = true;

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment state = NativeCall.state(arena);
    private final MemorySegment name = arena.allocate(NAME_SIZE);
    private final MemorySegment status = arena.allocate(STATX_SIZE, 8);
    private final MemorySegment small = arena.allocate(SMALL_LIST);
    private @Nullable MemorySegment longest;
    private boolean listsEntries;

    public EntryReader() {
        this(kernelListsEntries);
    }

    /// @param listsEntries false for what an older kernel has
    EntryReader(boolean listsEntries) {
        this.listsEntries = listsEntries;
    }

    /// The status of an entry; of a link itself. Null if there is no such entry.
    public @Nullable FileStatus find(Descriptor directory, String entry) throws ErrnoException {
        put(entry);
        int fd = directory.use("statx");
        try {
            long result = STATX.attempt(
                    state, fd, name.address(), AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_BASIC, status.address());
            if (result < 0 && result != -Errno.ENOENT) {
                throw new ErrnoException("statx", (int) -result);
            }
            return result < 0 ? null : FileStatus.read(status);
        } finally {
            directory.done();
        }
    }

    /// Names of an entry's extended attributes; none where its file system has no attributes.
    public List<String> attributes(Descriptor directory, String entry) throws ErrnoException {
        int fd = directory.use("listxattr");
        try {
            var names = small;
            long length = list(fd, entry, names);
            if (length == -Errno.ERANGE) {
                names = longest == null ? arena.allocate(LONGEST_LIST) : longest;
                longest = names;
                length = list(fd, entry, names);
            }
            if (length < 0 && length != -Errno.EOPNOTSUPP) {
                throw new ErrnoException("listxattr", (int) -length);
            }
            return length <= 0 ? List.of() : split(names.asSlice(0, length - 1));
        } finally {
            directory.done();
        }
    }

    private long list(int directory, String entry, MemorySegment into) throws ErrnoException {
        if (listsEntries) {
            put(entry);
            long length = LISTXATTRAT.attempt(
                    state,
                    SYS_LISTXATTRAT,
                    directory,
                    name.address(),
                    AT_SYMLINK_NOFOLLOW,
                    into.address(),
                    into.byteSize());
            if (length != -Errno.ENOSYS) {
                return length;
            }
            listsEntries = false;
            kernelListsEntries = false;
        }
        put("/proc/self/fd/" + directory + "/" + entry);
        return LLISTXATTR.attempt(state, name.address(), into.address(), into.byteSize());
    }

    private static List<String> split(MemorySegment names) {
        return List.of(new String(names.toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8).split("\0"));
    }

    private void put(String text) throws ErrnoException {
        byte[] bytes = FileName.bytes(text);
        if (bytes.length >= NAME_SIZE) {
            throw new ErrnoException("name", Errno.ENAMETOOLONG);
        }
        if (text.indexOf('\0') >= 0) {
            throw new ErrnoException("name", Errno.EINVAL);
        }
        MemorySegment.copy(bytes, 0, name, ValueLayout.JAVA_BYTE, 0, bytes.length);
        name.set(ValueLayout.JAVA_BYTE, bytes.length, (byte) 0);
    }

    @Override
    public void close() {
        arena.close();
    }
}
