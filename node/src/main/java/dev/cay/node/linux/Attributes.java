package dev.cay.node.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/// Extended attributes of a file that is open or only named ({@link FileCalls#PATH}), or of an entry of an open
/// directory. They are asked for by the link in `/proc/self/fd`, as the kernel refuses them on a descriptor that only
/// names. No link of the sandbox is followed.
public final class Attributes {
    private static final NativeCall SET = NativeCall.of("setxattr");
    private static final NativeCall GET = NativeCall.wide("getxattr");
    private static final NativeCall LIST = NativeCall.wide("listxattr");
    private static final NativeCall GET_ENTRY = NativeCall.wide("lgetxattr");
    private static final NativeCall SET_ENTRY = NativeCall.of("lsetxattr");
    private static final NativeCall LIST_ENTRY = NativeCall.wide("llistxattr");
    private static final NativeCall REMOVE = NativeCall.of("removexattr");
    private static final int LIMIT = 65536;

    private Attributes() {}

    public static List<String> names(Descriptor file) throws ErrnoException {
        return names(LIST, file, "");
    }

    public static List<String> names(Descriptor directory, String entry) throws ErrnoException {
        return names(LIST_ENTRY, directory, "/" + entry);
    }

    private static List<String> names(NativeCall list, Descriptor file, String below) throws ErrnoException {
        int fd = file.use("listxattr");
        try (var arena = Arena.ofConfined()) {
            long place = place(arena, fd, below);
            // The length is queried first, because nearly no file has any.
            if (list.call(arena, place, 0, 0) == 0) {
                return List.of();
            }
            MemorySegment names = arena.allocate(LIMIT);
            long length = list.call(arena, place, names.address(), LIMIT);
            return length == 0 ? List.of() : List.of(text(names, length - 1).split("\0"));
        } finally {
            file.done();
        }
    }

    public static String read(Descriptor file, String name) throws ErrnoException {
        return read(GET, file, "", name);
    }

    public static String read(Descriptor directory, String entry, String name) throws ErrnoException {
        return read(GET_ENTRY, directory, "/" + entry, name);
    }

    /// Whether an open file has an attribute with exactly this value. False where its file system has none.
    public static boolean has(Descriptor file, String name, byte[] value) throws ErrnoException {
        int fd = file.use("getxattr");
        try (var arena = Arena.ofConfined()) {
            MemorySegment found = arena.allocate(value.length);
            long place = place(arena, fd, "");
            long length = GET.attempt(arena, place, FileCalls.text(arena, name), found.address(), value.length);
            if (length == -Errno.ENODATA || length == -Errno.EOPNOTSUPP || length == -Errno.ERANGE) {
                return false;
            }
            if (length < 0) {
                throw new ErrnoException("getxattr", (int) -length);
            }
            return Arrays.equals(found.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE), value);
        } finally {
            file.done();
        }
    }

    private static String read(NativeCall get, Descriptor file, String below, String name) throws ErrnoException {
        int fd = file.use("getxattr");
        try (var arena = Arena.ofConfined()) {
            MemorySegment value = arena.allocate(LIMIT);
            long place = place(arena, fd, below);
            return text(value, get.call(arena, place, FileCalls.text(arena, name), value.address(), LIMIT));
        } finally {
            file.done();
        }
    }

    public static void write(Descriptor file, String name, String value) throws ErrnoException {
        int fd = file.use("setxattr");
        try (var arena = Arena.ofConfined()) {
            MemorySegment text = arena.allocateFrom(value, StandardCharsets.UTF_8);
            SET.call(arena, place(arena, fd, ""), FileCalls.text(arena, name), text.address(), text.byteSize() - 1, 0);
        } finally {
            file.done();
        }
    }

    /// The value of an entry's attribute as it is, which need not be text.
    public static byte[] readBytes(Descriptor directory, String entry, String name) throws ErrnoException {
        int fd = directory.use("getxattr");
        try (var arena = Arena.ofConfined()) {
            MemorySegment value = arena.allocate(LIMIT);
            long place = place(arena, fd, "/" + entry);
            long length = GET_ENTRY.call(arena, place, FileCalls.text(arena, name), value.address(), LIMIT);
            return value.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE);
        } finally {
            directory.done();
        }
    }

    /// Sets an attribute of an entry; of a link itself.
    public static void write(Descriptor directory, String entry, String name, byte[] value) throws ErrnoException {
        int fd = directory.use("setxattr");
        try (var arena = Arena.ofConfined()) {
            MemorySegment bytes = arena.allocate(Math.max(1, value.length));
            MemorySegment.copy(value, 0, bytes, ValueLayout.JAVA_BYTE, 0, value.length);
            long place = place(arena, fd, "/" + entry);
            SET_ENTRY.call(arena, place, FileCalls.text(arena, name), bytes.address(), value.length, 0);
        } finally {
            directory.done();
        }
    }

    public static void remove(Descriptor file, String name) throws ErrnoException {
        int fd = file.use("removexattr");
        try (var arena = Arena.ofConfined()) {
            REMOVE.call(arena, place(arena, fd, ""), FileCalls.text(arena, name));
        } finally {
            file.done();
        }
    }

    private static long place(Arena arena, int fd, String below) throws ErrnoException {
        return FileCalls.text(arena, "/proc/self/fd/" + fd + below);
    }

    private static String text(MemorySegment segment, long length) {
        return new String(segment.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8);
    }
}
