package dev.cay.node.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/// Extended attributes of an open file.
public final class Attributes {
    private static final Call SET = Call.of("fsetxattr");
    private static final Call GET = Call.wide("fgetxattr");
    private static final Call LIST = Call.wide("flistxattr");
    private static final Call REMOVE = Call.of("fremovexattr");
    private static final int LIMIT = 65536;

    private Attributes() {}

    public static List<String> names(Descriptor file) throws ErrnoException {
        int fd = file.use("flistxattr");
        try (var arena = Arena.ofConfined()) {
            MemorySegment names = arena.allocate(LIMIT);
            long length = LIST.call(arena, fd, names.address(), LIMIT);
            return length == 0
                    ? List.of()
                    : Arrays.asList(FileCalls.string(names, 0, length - 1).split("\0"));
        } finally {
            file.done();
        }
    }

    public static String read(Descriptor file, String name) throws ErrnoException {
        int fd = file.use("fgetxattr");
        try (var arena = Arena.ofConfined()) {
            MemorySegment value = arena.allocate(LIMIT);
            long length = GET.call(arena, fd, FileCalls.text(arena, name), value.address(), LIMIT);
            return FileCalls.string(value, 0, length);
        } finally {
            file.done();
        }
    }

    public static void write(Descriptor file, String name, String value) throws ErrnoException {
        int fd = file.use("fsetxattr");
        try (var arena = Arena.ofConfined()) {
            MemorySegment text = arena.allocateFrom(value, StandardCharsets.UTF_8);
            SET.call(arena, fd, FileCalls.text(arena, name), text.address(), text.byteSize() - 1, 0);
        } finally {
            file.done();
        }
    }

    public static void remove(Descriptor file, String name) throws ErrnoException {
        int fd = file.use("fremovexattr");
        try (var arena = Arena.ofConfined()) {
            REMOVE.call(arena, fd, FileCalls.text(arena, name));
        } finally {
            file.done();
        }
    }
}
