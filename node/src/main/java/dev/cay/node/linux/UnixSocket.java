package dev.cay.node.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/// Unix stream sockets that lend descriptors. None of these calls blocks.
public final class UnixSocket {
    private static final NativeCall SOCKET = NativeCall.of("socket");
    private static final NativeCall CONNECT = NativeCall.of("connect");
    private static final NativeCall SEND = NativeCall.wide("send");
    private static final NativeCall RECVMSG = NativeCall.wide("recvmsg");

    private static final int AF_UNIX = 1;
    private static final int SOCK_STREAM = 1;
    private static final int SOL_SOCKET = 1;
    private static final int SCM_RIGHTS = 1;
    private static final int MSG_CTRUNC = 0x8;
    private static final int MSG_DONTWAIT = 0x40;
    private static final int MSG_NOSIGNAL = 0x4000;
    private static final int MSG_CMSG_CLOEXEC = 0x40000000;
    private static final int HEADER = 16;
    /// Buffer size for more descriptors than any message has.
    private static final int CONTROL = 64;

    private UnixSocket() {}

    /// The result of one `recvmsg`. The receiver owns the descriptors.
    ///
    /// @param length how many bytes; 0 at the end
    /// @param cut    whether the peer sent more descriptors than there was space for
    public record Received(int length, List<Descriptor> descriptors, boolean cut) {}

    /// A socket of the namespace the calling thread is in.
    static Descriptor open() throws ErrnoException {
        return new Descriptor(SOCKET.call(AF_UNIX, SOCK_STREAM | FileCalls.NONBLOCK | FileCalls.CLOEXEC, 0));
    }

    static void connectAbstract(Descriptor socket, String name) throws ErrnoException {
        byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
        int fd = socket.use("connect");
        try (var arena = Arena.ofConfined()) {
            MemorySegment address = arena.allocate(3 + bytes.length, 2);
            address.set(ValueLayout.JAVA_SHORT, 0, (short) AF_UNIX);
            MemorySegment.copy(bytes, 0, address, ValueLayout.JAVA_BYTE, 3, bytes.length);
            CONNECT.call(arena, fd, address.address(), address.byteSize());
        } finally {
            socket.done();
        }
    }

    /// Returns how many bytes were sent, which may be fewer than given.
    public static int send(Descriptor socket, byte[] bytes, int offset, int length) throws ErrnoException {
        int fd = socket.use("send");
        try (var arena = Arena.ofConfined()) {
            MemorySegment data = arena.allocate(Math.max(1, length));
            MemorySegment.copy(bytes, offset, data, ValueLayout.JAVA_BYTE, 0, length);
            return (int) SEND.call(arena, fd, data.address(), length, MSG_DONTWAIT | MSG_NOSIGNAL);
        } finally {
            socket.done();
        }
    }

    public static Received receive(Descriptor socket, byte[] into, int offset, int length) throws ErrnoException {
        int fd = socket.use("recvmsg");
        try (var arena = Arena.ofConfined()) {
            MemorySegment data = arena.allocate(length);
            MemorySegment vector = arena.allocate(16, 8);
            vector.set(ValueLayout.JAVA_LONG, 0, data.address());
            vector.set(ValueLayout.JAVA_LONG, 8, length);
            MemorySegment control = arena.allocate(CONTROL, 8);
            MemorySegment message = arena.allocate(56, 8);
            message.set(ValueLayout.JAVA_LONG, 16, vector.address());
            message.set(ValueLayout.JAVA_LONG, 24, 1);
            message.set(ValueLayout.JAVA_LONG, 32, control.address());
            message.set(ValueLayout.JAVA_LONG, 40, CONTROL);
            int count = (int) RECVMSG.call(arena, fd, message.address(), MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
            MemorySegment.copy(data, ValueLayout.JAVA_BYTE, 0, into, offset, count);
            long filled = Math.min(CONTROL, message.get(ValueLayout.JAVA_LONG, 40));
            boolean cut = (message.get(ValueLayout.JAVA_INT, 48) & MSG_CTRUNC) != 0;
            return new Received(count, descriptors(control, filled), cut);
        } finally {
            socket.done();
        }
    }

    /// Reads the descriptors of the control records. The kernel wrote these, so their lengths are right; there may be
    /// several.
    private static List<Descriptor> descriptors(MemorySegment control, long filled) {
        var found = new ArrayList<Descriptor>();
        long at = 0;
        while (at + HEADER <= filled) {
            long length = control.get(ValueLayout.JAVA_LONG, at);
            if (length < HEADER) {
                break;
            }
            boolean rights = control.get(ValueLayout.JAVA_INT, at + 8) == SOL_SOCKET
                    && control.get(ValueLayout.JAVA_INT, at + 12) == SCM_RIGHTS;
            long end = Math.min(filled, at + length);
            for (long fd = at + HEADER; rights && fd + 4 <= end; fd += 4) {
                found.add(new Descriptor(control.get(ValueLayout.JAVA_INT, fd)));
            }
            at += (length + 7) & ~7L;
        }
        return found;
    }
}
