package dev.cay.runner;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.concurrent.locks.LockSupport;

/// The calls to move, wait for and use descriptors by number, which the JDK's own streams do not offer.
///
/// Reading and writing this way also has no part in `Thread.interrupt`: an interrupted cell never breaks an event.
final class Libc {
    static final int CLOSE_ON_EXEC = 0x80000;
    static final int READ_ONLY = 0;

    private static final short READABLE = 1;
    private static final short HUNG_UP = 0x10;
    private static final int PATH_LENGTH = 4096;
    private static final int TRIES = 20;

    private static final MethodHandle DUP3 =
            find("dup3", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT));
    private static final MethodHandle PIPE2 = find("pipe2", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT));
    private static final MethodHandle OPEN = find("open", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT));
    private static final MethodHandle CHDIR = find("chdir", FunctionDescriptor.of(JAVA_INT, ADDRESS));
    private static final MethodHandle READ =
            find("read", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG));
    private static final MethodHandle WRITE =
            find("write", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG));
    private static final MethodHandle POLL =
            find("poll", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT));

    private Libc() {}

    /// Makes `to` another name of the open file that `from` is.
    static void copy(int from, int to, int flags) {
        if (call(() -> (int) DUP3.invokeExact(from, to, flags)) < 0) {
            throw new IllegalStateException("cannot make descriptor %d from %d".formatted(to, from));
        }
    }

    static int open(String path, int flags) {
        try (var arena = Arena.ofConfined()) {
            var name = arena.allocateFrom(path);
            return (int) call(() -> (int) OPEN.invokeExact(name, flags));
        }
    }

    static boolean changeDirectory(String path) {
        if (path.length() > PATH_LENGTH || path.indexOf('\0') >= 0) {
            return false;
        }
        try (var arena = Arena.ofConfined()) {
            var name = arena.allocateFrom(path);
            return call(() -> (int) CHDIR.invokeExact(name)) == 0;
        }
    }

    static Pipe pipe() {
        try (var arena = Arena.ofConfined()) {
            var ends = arena.allocate(JAVA_INT, 2);
            if (call(() -> (int) PIPE2.invokeExact(ends, CLOSE_ON_EXEC)) < 0) {
                throw new IllegalStateException("cannot make a pipe");
            }
            return new Pipe(ends.getAtIndex(JAVA_INT, 0), ends.getAtIndex(JAVA_INT, 1));
        }
    }

    /// At least one byte, or 0 or less when nothing will come any more.
    static int read(int descriptor, MemorySegment into) {
        return (int) persist(() -> (long) READ.invokeExact(descriptor, into, into.byteSize()));
    }

    /// Writes all of it; false when nobody reads any more.
    static boolean write(int descriptor, MemorySegment bytes) {
        long done = 0;
        while (done < bytes.byteSize()) {
            var rest = bytes.asSlice(done);
            long wrote = persist(() -> (long) WRITE.invokeExact(descriptor, rest, rest.byteSize()));
            if (wrote <= 0) {
                return false;
            }
            done += wrote;
        }
        return true;
    }

    record Pipe(int readEnd, int writeEnd) {}

    /// A set of descriptors to wait for, all for reading.
    static final class Waiting {
        private static final int SIZE = 8;

        private final MemorySegment list;
        private final int count;

        Waiting(Arena arena, int... descriptors) {
            count = descriptors.length;
            list = arena.allocate((long) SIZE * count, JAVA_INT.byteAlignment());
            for (int i = 0; i < count; i++) {
                list.set(JAVA_INT, (long) SIZE * i, descriptors[i]);
                list.set(ValueLayout.JAVA_SHORT, (long) SIZE * i + 4, READABLE);
            }
        }

        /// Whether anything can be read, after at most `millis` (-1: as long as it takes).
        boolean any(int millis) {
            return call(() -> (int) POLL.invokeExact(list, (long) count, millis)) > 0;
        }

        /// Whether the last [#any] found this one readable.
        boolean readable(int index) {
            short found = list.get(ValueLayout.JAVA_SHORT, (long) SIZE * index + 6);
            return (found & (READABLE | HUNG_UP)) != 0;
        }
    }

    private interface Call {
        long run() throws Throwable;
    }

    private static long call(Call call) {
        try {
            return call.run();
        } catch (Error | RuntimeException e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    /// A call that failed may only have been disturbed by a signal.
    private static long persist(Call call) {
        long result = call(call);
        for (int tries = 1; result < 0 && tries < TRIES; tries++) {
            LockSupport.parkNanos(1_000_000);
            result = call(call);
        }
        return result;
    }

    @SuppressWarnings("restricted") // Calling libc is what this class is for.
    private static MethodHandle find(String name, FunctionDescriptor shape) {
        var linker = Linker.nativeLinker();
        return linker.downcallHandle(linker.defaultLookup().findOrThrow(name), shape);
    }
}
