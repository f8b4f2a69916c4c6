package dev.cay.node.linux;

import java.lang.foreign.Arena;
import java.util.Collection;

/// The kernel's list of FUSE connections (`fusectl`), which many hosts have not mounted. It is used without being
/// mounted anywhere.
public final class FuseControl {
    private static final NativeCall FSOPEN = NativeCall.raw("fsopen");
    private static final NativeCall FSCONFIG = NativeCall.raw("fsconfig");
    private static final NativeCall FSMOUNT = NativeCall.raw("fsmount");
    private static final int SYS_FSOPEN = 430;
    private static final int SYS_FSCONFIG = 431;
    private static final int SYS_FSMOUNT = 432;
    private static final int CLOSE_ON_EXEC = 1;
    private static final int CREATE = 6;

    private FuseControl() {}

    /// Aborts connections: every request that waits for an answer fails at once, whatever state its process is in.
    /// Missing connections are ignored.
    ///
    /// @param connections the minor numbers of the file systems' devices
    public static void abort(Collection<Integer> connections) throws ErrnoException {
        if (connections.isEmpty()) {
            return;
        }
        try (var list = open()) {
            for (int connection : connections) {
                abort(list, connection);
            }
        }
    }

    private static Descriptor open() throws ErrnoException {
        try (var arena = Arena.ofConfined()) {
            long kind = arena.allocateFrom("fusectl").address();
            try (var context = new Descriptor((int) FSOPEN.call(arena, SYS_FSOPEN, kind, CLOSE_ON_EXEC))) {
                int fd = context.use("fsconfig");
                try {
                    FSCONFIG.call(arena, SYS_FSCONFIG, fd, CREATE, 0, 0, 0);
                    return new Descriptor((int) FSMOUNT.call(arena, SYS_FSMOUNT, fd, CLOSE_ON_EXEC, 0));
                } finally {
                    context.done();
                }
            }
        }
    }

    private static void abort(Descriptor list, int connection) throws ErrnoException {
        try (var lever = FileCalls.openBelow(list, connection + "/abort", FileCalls.WRITE)) {
            DescriptorIo.write(lever, new byte[] {'1'}, 0, 1);
        } catch (ErrnoException e) {
            if (e.errno() != Errno.ENOENT) {
                throw e;
            }
        }
    }
}
