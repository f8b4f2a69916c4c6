package dev.cay.node.linux;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.function.Consumer;

/// Receives copies of packets that rules of the firewall log (`log group N`). The kernel drops copies that nobody reads
/// in time. One thread calls {@link #receive}.
public final class NetfilterLog implements AutoCloseable {
    private static final NativeCall SOCKET = NativeCall.of("socket");
    private static final int AF_NETLINK = 16;
    private static final int SOCK_RAW = 3;
    private static final int NETLINK_NETFILTER = 12;

    private static final int HEADER = 16;
    private static final int FAMILY_HEADER = 4;
    private static final int ERROR = 2;
    private static final int PACKET = 4 << 8;
    private static final int CONFIG = PACKET | 1;
    private static final short REQUEST_WITH_ANSWER = 5;
    private static final short COMMAND = 1;
    private static final short MODE = 2;
    private static final byte BIND = 1;
    private static final byte COPY_PACKET = 2;
    private static final int PAYLOAD = 9;
    private static final int TYPE_MASK = 0x3fff;

    private static final int BUFFER = 1 << 16;
    private static final int ANSWER_MILLIS = 2000;
    private static final int TCP = 6;
    private static final int UDP = 17;

    /// A packet of IPv4.
    ///
    /// @param protocol its number
    /// @param port     of the destination; 0 where the protocol has none, or the packet is a later fragment
    public record Packet(InetAddress source, InetAddress destination, int protocol, int port) {}

    private final Descriptor socket;
    private final SocketEvents events;
    private final byte[] buffer = new byte[BUFFER];

    private NetfilterLog(Descriptor socket, SocketEvents events) {
        this.socket = socket;
        this.events = events;
    }

    /// Receives what is logged to a group of the caller's network namespace.
    ///
    /// @param length bytes of each packet that are copied
    /// @throws IOException if another program has the group, or the kernel cannot do it
    public static NetfilterLog open(int group, int length) throws IOException {
        var socket = new Descriptor(
                SOCKET.call(AF_NETLINK, SOCK_RAW | FileCalls.NONBLOCK | FileCalls.CLOEXEC, NETLINK_NETFILTER));
        try {
            var log = new NetfilterLog(socket, new SocketEvents());
            try {
                log.events.add(socket, 0);
                log.configure(group, COMMAND, new byte[] {BIND});
                log.configure(
                        group,
                        MODE,
                        ByteBuffer.allocate(6).putInt(length).put(COPY_PACKET).array());
                return log;
            } catch (IOException | RuntimeException e) {
                log.events.close();
                throw e;
            }
        } catch (IOException | RuntimeException e) {
            socket.close();
            throw e;
        }
    }

    private void configure(int group, short attribute, byte[] value) throws IOException {
        int length = HEADER + FAMILY_HEADER + padded(4 + value.length);
        var message = ByteBuffer.allocate(length).order(ByteOrder.nativeOrder());
        message.putInt(length).putShort((short) CONFIG).putShort(REQUEST_WITH_ANSWER);
        message.putInt(0).putInt(0);
        message.put((byte) 0).put((byte) 0).put((byte) (group >> 8)).put((byte) group);
        message.putShort((short) (4 + value.length)).putShort(attribute).put(value);
        DescriptorIo.write(socket, message.array(), 0, length);
        long end = System.nanoTime() + ANSWER_MILLIS * 1_000_000L;
        while (System.nanoTime() < end) {
            int count = read();
            if (count > HEADER + 4) {
                var answer = ByteBuffer.wrap(buffer, 0, count).order(ByteOrder.nativeOrder());
                if (answer.getShort(4) == ERROR) {
                    int code = -answer.getInt(HEADER);
                    if (code != 0) {
                        throw new ErrnoException("a group of logged packets", code);
                    }
                    return;
                }
            } else {
                events.await(100, _ -> {});
            }
        }
        throw new IOException("the kernel does not answer about a group of logged packets");
    }

    /// @return 0 when nothing is there now
    private int read() throws ErrnoException {
        try {
            return DescriptorIo.read(socket, buffer, 0, BUFFER);
        } catch (ErrnoException e) {
            // With ENOBUFS the kernel says that it dropped some.
            if (e.errno() == Errno.EAGAIN || e.errno() == Errno.ENOBUFS) {
                return 0;
            }
            throw e;
        }
    }

    /// Waits for packets, at most so many milliseconds, and tells of those that can be read.
    public void receive(int milliseconds, Consumer<Packet> each) throws ErrnoException {
        events.await(milliseconds, _ -> {});
        for (int count = read(); count > 0; count = read()) {
            messages(ByteBuffer.wrap(buffer, 0, count), each);
        }
    }

    /// Several messages may be in one datagram.
    static void messages(ByteBuffer all, Consumer<Packet> each) {
        all.order(ByteOrder.nativeOrder());
        while (all.remaining() >= HEADER) {
            int begin = all.position();
            int length = all.getInt(begin);
            if (length < HEADER || length > all.remaining()) {
                return;
            }
            if ((all.getShort(begin + 4) & 0xffff) == PACKET && length >= HEADER + FAMILY_HEADER) {
                attributes(
                        all.slice(begin + HEADER + FAMILY_HEADER, length - HEADER - FAMILY_HEADER)
                                .order(ByteOrder.nativeOrder()),
                        each);
            }
            all.position(Math.min(all.limit(), begin + padded(length)));
        }
    }

    private static void attributes(ByteBuffer all, Consumer<Packet> each) {
        while (all.remaining() >= 4) {
            int begin = all.position();
            int length = all.getShort(begin) & 0xffff;
            if (length < 4 || length > all.remaining()) {
                return;
            }
            if ((all.getShort(begin + 2) & TYPE_MASK) == PAYLOAD) {
                packet(all.slice(begin + 4, length - 4).order(ByteOrder.BIG_ENDIAN), each);
            }
            all.position(Math.min(all.limit(), begin + padded(length)));
        }
    }

    /// The bytes are those of the sandbox.
    private static void packet(ByteBuffer ip, Consumer<Packet> each) {
        try {
            int header = (ip.get(0) & 0xf) * 4;
            if (ip.get(0) >> 4 != 4 || header < 20) {
                return;
            }
            int protocol = ip.get(9) & 0xff;
            boolean first = (ip.getShort(6) & 0x1fff) == 0;
            boolean ports = first && (protocol == TCP || protocol == UDP) && ip.limit() >= header + 4;
            each.accept(new Packet(
                    address(ip, 12), address(ip, 16), protocol, ports ? ip.getShort(header + 2) & 0xffff : 0));
        } catch (IndexOutOfBoundsException | BufferUnderflowException | IOException _) {
            // It is too short to be one.
        }
    }

    private static InetAddress address(ByteBuffer ip, int at) throws IOException {
        byte[] bytes = new byte[4];
        ip.get(at, bytes);
        return InetAddress.getByAddress(bytes);
    }

    private static int padded(int length) {
        return (length + 3) & ~3;
    }

    /// Makes {@link #receive} return.
    public void wake() {
        events.wake();
    }

    /// Called by the receiving thread, or after it has ended.
    @Override
    public void close() {
        socket.close();
        events.close();
    }
}
