package dev.cay.node.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/// Extended attributes of a file that is open or only named ({@link FileCalls#PATH}): they are asked for by its link in
/// `/proc/self/fd`, as the kernel refuses them on a descriptor that only names.
public final class Attributes {
    private static final Call SET = Call.of("setxattr");
    private static final Call GET = Call.wide("getxattr");
    private static final Call LIST = Call.wide("listxattr");
    private static final Call REMOVE = Call.of("removexattr");
    private static final int LIMIT = 65536;

    private Attributes() {}

    public static List<String> names(Descriptor file) throws ErrnoException {
        int fd = file.use("listxattr");
        try (var arena = Arena.ofConfined()) {
            // Asked for the length first: nearly no file has any.
            if (LIST.call(arena, link(arena, fd), 0, 0) == 0) {
                return List.of();
            }
            MemorySegment names = arena.allocate(LIMIT);
            long length = LIST.call(arena, link(arena, fd), names.address(), LIMIT);
            return length == 0
                    ? List.of()
                    : Arrays.asList(FileCalls.string(names, 0, length - 1).split("\0"));
        } finally {
            file.done();
        }
    }

    public static String read(Descriptor file, String name) throws ErrnoException {
        int fd = file.use("getxattr");
        try (var arena = Arena.ofConfined()) {
            MemorySegment value = arena.allocate(LIMIT);
            long length = GET.call(arena, link(arena, fd), FileCalls.text(arena, name), value.address(), LIMIT);
            return FileCalls.string(value, 0, length);
        } finally {
            file.done();
        }
    }

    public static void write(Descriptor file, String name, String value) throws ErrnoException {
        int fd = file.use("setxattr");
        try (var arena = Arena.ofConfined()) {
            MemorySegment text = arena.allocateFrom(value, StandardCharsets.UTF_8);
            SET.call(arena, link(arena, fd), FileCalls.text(arena, name), text.address(), text.byteSize() - 1, 0);
        } finally {
            file.done();
        }
    }

    public static void remove(Descriptor file, String name) throws ErrnoException {
        int fd = file.use("removexattr");
        try (var arena = Arena.ofConfined()) {
            REMOVE.call(arena, link(arena, fd), FileCalls.text(arena, name));
        } finally {
            file.done();
        }
    }

    private static long link(Arena arena, int fd) throws ErrnoException {
        return FileCalls.text(arena, "/proc/self/fd/" + fd);
    }
}
