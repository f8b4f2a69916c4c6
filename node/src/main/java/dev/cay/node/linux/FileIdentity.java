package dev.cay.node.linux;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/// Runs file work on a {@link HostThreads} thread under another user's name.
///
/// What is created belongs to that user at once. Permissions are not asked for, since clients speak as the sandbox's
/// root, but of all the daemon's powers only those over files' owners and modes remain: what a sandbox lays in the way
/// meets no host administrator.
public final class FileIdentity {
    private static final NativeCall SETFSUID = NativeCall.of("setfsuid");
    private static final NativeCall SETFSGID = NativeCall.of("setfsgid");
    private static final NativeCall CAPGET = NativeCall.of("capget");
    private static final NativeCall CAPSET = NativeCall.of("capset");

    private static final int CAPABILITY_VERSION = 0x20080522;
    /// chown, dac_override, dac_read_search, fowner, fsetid: the lowest five.
    private static final int FILE_CAPABILITIES = 0x1f;

    private FileIdentity() {}

    /// @param uid as the host counts
    public static <T extends @Nullable Object> T as(int uid, int gid, HostThreads.Action<T> action) throws IOException {
        if (Thread.currentThread().isVirtual()) {
            throw new IllegalStateException("credentials bind an OS thread");
        }
        long[] own = capabilities();
        try {
            setId(SETFSGID, gid);
            setId(SETFSUID, uid);
            setCapabilities(own[0] & FILE_CAPABILITIES, own[1]);
            return action.run();
        } finally {
            restore(own);
        }
    }

    private static void restore(long[] own) {
        try {
            setId(SETFSUID, 0);
            setId(SETFSGID, 0);
            setCapabilities(own[0], own[1]);
        } catch (ErrnoException e) {
            throw new HostThreads.Tainted(e);
        }
    }

    /// Sets a file system id. These calls return the previous id, never an error; a second call with an impossible id
    /// checks the result.
    private static void setId(NativeCall call, int id) throws ErrnoException {
        setRaw(call, id);
        if (setRaw(call, -1) != id) {
            throw new ErrnoException("setfsuid", Errno.EPERM);
        }
    }

    private static int setRaw(NativeCall call, int id) {
        try {
            return (int) call.call(Integer.toUnsignedLong(id));
        } catch (ErrnoException e) {
            return -1;
        }
    }

    /// Effective and permitted ones.
    private static long[] capabilities() throws ErrnoException {
        try (var arena = Arena.ofConfined()) {
            MemorySegment data = arena.allocate(24, 4);
            CAPGET.call(arena, header(arena), data.address());
            return new long[] {
                join(data.get(ValueLayout.JAVA_INT, 0), data.get(ValueLayout.JAVA_INT, 12)),
                join(data.get(ValueLayout.JAVA_INT, 4), data.get(ValueLayout.JAVA_INT, 16))
            };
        }
    }

    private static void setCapabilities(long effective, long permitted) throws ErrnoException {
        try (var arena = Arena.ofConfined()) {
            MemorySegment data = arena.allocate(24, 4);
            data.set(ValueLayout.JAVA_INT, 0, (int) effective);
            data.set(ValueLayout.JAVA_INT, 4, (int) permitted);
            data.set(ValueLayout.JAVA_INT, 12, (int) (effective >>> 32));
            data.set(ValueLayout.JAVA_INT, 16, (int) (permitted >>> 32));
            CAPSET.call(arena, header(arena), data.address());
        }
    }

    private static long header(Arena arena) {
        MemorySegment header = arena.allocate(8, 4);
        header.set(ValueLayout.JAVA_INT, 0, CAPABILITY_VERSION);
        return header.address();
    }

    private static long join(int low, int high) {
        return Integer.toUnsignedLong(low) | (long) high << 32;
    }
}
