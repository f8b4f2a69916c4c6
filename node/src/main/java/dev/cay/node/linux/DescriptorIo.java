package dev.cay.node.linux;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.ProtocolException;

/// Bytes in and out of descriptors. Never blocks on a descriptor that was set so; on others only platform
/// threads may call.
public final class DescriptorIo {
    private static final NativeCall READ = NativeCall.wide("read");
    private static final NativeCall WRITE = NativeCall.wide("write");
    private static final NativeCall PREAD = NativeCall.wide("pread64");
    private static final NativeCall PWRITE = NativeCall.wide("pwrite64");
    private static final NativeCall SPLICE = NativeCall.wide("splice");
    private static final NativeCall FTRUNCATE = NativeCall.of("ftruncate64");
    private static final NativeCall FSYNC = NativeCall.of("fsync");
    private static final NativeCall PIPE = NativeCall.of("pipe2");
    private static final NativeCall FCNTL = NativeCall.variadic("fcntl64", 2);
    private static final NativeCall IOCTL = NativeCall.variadic("ioctl", 2);
    private static final NativeCall PIDFD_OPEN = NativeCall.raw("pidfd_open");

    private static final int F_GETFL = 3;
    private static final int F_SETFL = 4;
    private static final int F_DUPFD_CLOEXEC = 1030;
    private static final int SPLICE_F_MOVE = 1;
    private static final int SPLICE_F_NONBLOCK = 2;
    private static final int FIONREAD = 0x541b;
    private static final int SYS_PIDFD_OPEN = 434;

    /// Larger transfers go through one buffer per thread: to fetch and clear so much memory each time would take longer
    /// than to fill it.
    private static final int BUFFER = 256 << 10;

    private static final int SMALL = 8 << 10;
    private static final ThreadLocal<MemorySegment> BUFFERS =
            ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(BUFFER));

    private DescriptorIo() {}

    /// Both ends of a new pipe.
    public record Pipe(Descriptor readEnd, Descriptor writeEnd) {}

    public static Pipe pipe() throws ErrnoException {
        try (var arena = Arena.ofConfined()) {
            MemorySegment ends = arena.allocate(8, 4);
            PIPE.call(arena, ends.address(), FileCalls.CLOEXEC);
            return new Pipe(
                    new Descriptor(ends.get(ValueLayout.JAVA_INT, 0)),
                    new Descriptor(ends.get(ValueLayout.JAVA_INT, 4)));
        }
    }

    /// Returns how many bytes were read; 0 at the end.
    public static int read(Descriptor from, byte[] into, int offset, int length) throws ErrnoException {
        return transfer(READ, from, into, offset, length, -1, true);
    }

    public static int pread(Descriptor from, byte[] into, int offset, int length, long position) throws ErrnoException {
        return transfer(PREAD, from, into, offset, length, position, true);
    }

    /// Returns how many bytes were written, which may be fewer than given.
    public static int write(Descriptor to, byte[] from, int offset, int length) throws ErrnoException {
        return transfer(WRITE, to, from, offset, length, -1, false);
    }

    public static int pwrite(Descriptor to, byte[] from, int offset, int length, long position) throws ErrnoException {
        return transfer(PWRITE, to, from, offset, length, position, false);
    }

    private static int transfer(
            NativeCall call, Descriptor descriptor, byte[] bytes, int offset, int length, long position, boolean inward)
            throws ErrnoException {
        int fd = descriptor.use("transfer");
        try (var arena = Arena.ofConfined()) {
            boolean shared = length > SMALL
                    && length <= BUFFER
                    && !Thread.currentThread().isVirtual();
            MemorySegment buffer = shared ? BUFFERS.get() : arena.allocate(Math.max(1, length));
            if (!inward) {
                MemorySegment.copy(bytes, offset, buffer, ValueLayout.JAVA_BYTE, 0, length);
            }
            int count = (int) call.call(arena, fd, buffer.address(), length, position);
            if (inward) {
                MemorySegment.copy(buffer, ValueLayout.JAVA_BYTE, 0, bytes, offset, count);
            }
            return count;
        } finally {
            descriptor.done();
        }
    }

    /// Moves bytes from a pipe into a file without copying them through this process; 0 when the pipe has ended, EAGAIN
    /// when it is empty. The file must not be in append mode (EINVAL).
    public static int splice(Descriptor pipe, Descriptor file, long position, int length) throws ErrnoException {
        int from = pipe.use("splice");
        try (var arena = Arena.ofConfined()) {
            int to = file.use("splice");
            try {
                MemorySegment offset = arena.allocateFrom(ValueLayout.JAVA_LONG, position);
                return (int)
                        SPLICE.call(arena, from, 0, to, offset.address(), length, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
            } finally {
                file.done();
            }
        } finally {
            pipe.done();
        }
    }

    /// How many bytes a pipe holds now.
    public static int available(Descriptor pipe) throws ErrnoException {
        int fd = pipe.use("ioctl");
        try (var arena = Arena.ofConfined()) {
            MemorySegment count = arena.allocate(ValueLayout.JAVA_INT);
            IOCTL.call(arena, fd, FIONREAD, count.address());
            return count.get(ValueLayout.JAVA_INT, 0);
        } finally {
            pipe.done();
        }
    }

    public static void truncate(Descriptor file, long size) throws ErrnoException {
        int fd = file.use("ftruncate");
        try {
            FTRUNCATE.call(fd, size);
        } finally {
            file.done();
        }
    }

    /// Returns when the disk has all of the file.
    public static void sync(Descriptor file) throws ErrnoException {
        int fd = file.use("fsync");
        try {
            FSYNC.call(fd);
        } finally {
            file.done();
        }
    }

    /// The flag is of the open file, so every process that shares it sees the change.
    public static void setNonBlocking(Descriptor descriptor) throws ErrnoException {
        int fd = descriptor.use("fcntl");
        try {
            long flags = FCNTL.call(fd, F_GETFL, 0);
            FCNTL.call(fd, F_SETFL, flags | FileCalls.NONBLOCK);
        } finally {
            descriptor.done();
        }
    }

    /// Reopens a pipe, so that holders of the given open file cannot make calls on the new one block. Other files are
    /// refused, also pipes with a name, whose file system could block.
    ///
    /// @param direction of {@link FileCalls#READ} and {@link FileCalls#WRITE}
    public static Descriptor reopenPipe(Descriptor pipe, int direction) throws IOException {
        if (!FileCalls.stat(pipe).fifo() || !FileCalls.pathOf(pipe).startsWith("pipe:[")) {
            throw new ProtocolException("a descriptor that is no pipe");
        }
        return FileCalls.reopen(pipe, direction | FileCalls.NONBLOCK);
    }

    /// Another number for the same open file: epoll accepts a number only once.
    public static Descriptor duplicate(Descriptor descriptor) throws ErrnoException {
        int fd = descriptor.use("fcntl");
        try {
            return new Descriptor(FCNTL.call(fd, F_DUPFD_CLOEXEC, 0));
        } finally {
            descriptor.done();
        }
    }

    /// Becomes readable when the process ends; does not mistake a later process of the same number for it.
    public static Descriptor pidfd(long pid) throws ErrnoException {
        return new Descriptor(PIDFD_OPEN.call(SYS_PIDFD_OPEN, pid, 0));
    }
}
