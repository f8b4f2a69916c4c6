package dev.cay.node.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;

/// One function of the C library, called with up to six integers or addresses.
///
/// All share one signature, six 64-bit arguments, because both calling conventions (x86-64, aarch64) pass these in
/// registers and a function reads only its declared ones. Results of `int` functions are cut to 32 bits, because the
/// upper half of the register is undefined.
///
/// A record, because compilers take the fields of records for constants: then a call is inlined, and costs half.
///
/// @param name of the function, for errors
/// @param wide whether the result has 64 bits
record NativeCall(String name, boolean wide, MethodHandle handle) {
    private static final Linker LINKER = Linker.nativeLinker();
    private static final StructLayout STATE = Linker.Option.captureStateLayout();
    private static final VarHandle ERRNO = STATE.varHandle(MemoryLayout.PathElement.groupElement("errno"));
    private static final FunctionDescriptor SHAPE = FunctionDescriptor.of(
            ValueLayout.JAVA_LONG,
            ValueLayout.JAVA_LONG,
            ValueLayout.JAVA_LONG,
            ValueLayout.JAVA_LONG,
            ValueLayout.JAVA_LONG,
            ValueLayout.JAVA_LONG,
            ValueLayout.JAVA_LONG);

    @SuppressWarnings("restricted") // Crossing into C is what this class is for.
    private static NativeCall of(String function, String name, boolean wide, Linker.Option... options) {
        var all = new Linker.Option[options.length + 1];
        System.arraycopy(options, 0, all, 0, options.length);
        all[options.length] = Linker.Option.captureCallState("errno");
        return new NativeCall(
                name, wide, LINKER.downcallHandle(LINKER.defaultLookup().findOrThrow(function), SHAPE, all));
    }

    /// A function that returns `int`.
    static NativeCall of(String name) {
        return of(name, name, false);
    }

    /// A function that returns `long` or `ssize_t`.
    static NativeCall wide(String name) {
        return of(name, name, true);
    }

    /// An `int` function with `...` after its first `fixed` arguments.
    static NativeCall variadic(String name, int fixed) {
        return of(name, name, false, Linker.Option.firstVariadicArg(fixed));
    }

    /// A system call that the C library does not wrap, or applies to the whole process where one thread is meant. Its
    /// number is the first argument.
    static NativeCall raw(String name) {
        return of("syscall", name, true, Linker.Option.firstVariadicArg(1));
    }

    long call(long... arguments) throws ErrnoException {
        try (var arena = Arena.ofConfined()) {
            return call(arena, arguments);
        }
    }

    /// As above, with an arena that the caller has open. Repeats the call after a signal.
    long call(Arena arena, long... arguments) throws ErrnoException {
        long result = attempt(arena, arguments);
        if (result < 0) {
            throw new ErrnoException(name, (int) -result);
        }
        return result;
    }

    /// As {@link #call}, but returns an error number negated, as the kernel does. For errors that occur at nearly every
    /// call: an exception costs more than the call itself.
    long attempt(Arena arena, long... arguments) {
        return attempt(state(arena), arguments);
    }

    /// Memory in which a call leaves its error number. One call at a time may use it.
    static MemorySegment state(Arena arena) {
        return arena.allocate(STATE);
    }

    /// The same for callers that call often.
    ///
    /// @param state from {@link #state}
    long attempt(MemorySegment state, long... a) {
        while (true) {
            long register = invoke(
                    state,
                    a.length > 0 ? a[0] : 0,
                    a.length > 1 ? a[1] : 0,
                    a.length > 2 ? a[2] : 0,
                    a.length > 3 ? a[3] : 0,
                    a.length > 4 ? a[4] : 0,
                    a.length > 5 ? a[5] : 0);
            long result = wide ? register : (int) register;
            if (result != -1) {
                return result;
            }
            int errno = (int) ERRNO.get(state, 0L);
            if (errno != Errno.EINTR || name.equals("close")) {
                return -errno;
            }
        }
    }

    private long invoke(MemorySegment state, long a, long b, long c, long d, long e, long f) {
        try {
            return (long) handle.invokeExact(state, a, b, c, d, e, f);
        } catch (Throwable t) {
            throw new AssertionError(name, t);
        }
    }
}
