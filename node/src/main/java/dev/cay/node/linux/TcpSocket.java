package dev.cay.node.linux;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.ConnectException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NoRouteToHostException;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// TCP sockets of IPv4 as descriptors, for what the JDK's channels cannot do: ask where a redirected connection
/// was going, and move bytes from one socket to another inside the kernel. No call blocks.
public final class TcpSocket {
    private static final NativeCall SOCKET = NativeCall.of("socket");
    private static final NativeCall BIND = NativeCall.of("bind");
    private static final NativeCall LISTEN = NativeCall.of("listen");
    private static final NativeCall ACCEPT = NativeCall.of("accept4");
    private static final NativeCall CONNECT = NativeCall.of("connect");
    private static final NativeCall SHUTDOWN = NativeCall.of("shutdown");
    private static final NativeCall GETSOCKOPT = NativeCall.of("getsockopt");
    private static final NativeCall GETPEERNAME = NativeCall.of("getpeername");
    private static final NativeCall GETSOCKNAME = NativeCall.of("getsockname");
    private static final NativeCall SETSOCKOPT = NativeCall.of("setsockopt");
    private static final NativeCall SPLICE = NativeCall.wide("splice");

    private static final int AF_INET = 2;
    private static final int SOCK_STREAM = 1;
    private static final int SOL_IP = 0;
    private static final int SOL_SOCKET = 1;
    private static final int IPPROTO_TCP = 6;
    private static final int SO_REUSEADDR = 2;
    private static final int SO_ERROR = 4;
    private static final int SO_KEEPALIVE = 9;
    private static final int SO_LINGER = 13;
    private static final int SO_ORIGINAL_DST = 80;
    private static final int IP_BIND_ADDRESS_NO_PORT = 24;
    private static final int TCP_NODELAY = 1;
    private static final int TCP_KEEPIDLE = 4;
    private static final int SHUT_WRITE = 1;
    private static final int SHUT_BOTH = 2;
    private static final int ADDRESS = 16;
    private static final int SPLICE_F_MOVE = 1;
    private static final int SPLICE_F_NONBLOCK = 2;

    /// Seconds of silence after which the kernel asks whether the peer is still there.
    private static final int KEEP_ALIVE_AFTER = 120;

    private TcpSocket() {}

    /// An accepted connection, with its peer's address.
    public record Accepted(Descriptor socket, InetSocketAddress peer) {}

    /// Listens at an address of this host; port 0 picks one.
    public static Descriptor listen(InetSocketAddress address, int backlog) throws IOException {
        var socket = open();
        try (var arena = Arena.ofConfined()) {
            set(socket, SOL_SOCKET, SO_REUSEADDR, 1);
            int fd = socket.use("bind");
            try {
                BIND.call(arena, fd, encode(arena, address).address(), ADDRESS);
                LISTEN.call(arena, fd, backlog);
            } finally {
                socket.done();
            }
            return socket;
        } catch (IOException | RuntimeException e) {
            socket.close();
            throw e;
        }
    }

    /// The next connection that waits, or nothing when none does.
    public static Optional<Accepted> accept(Descriptor listener) throws IOException {
        int fd = listener.use("accept");
        try (var arena = Arena.ofConfined()) {
            MemorySegment address = arena.allocate(ADDRESS, 4);
            MemorySegment length = arena.allocateFrom(ValueLayout.JAVA_INT, ADDRESS);
            long made = ACCEPT.attempt(
                    arena, fd, address.address(), length.address(), FileCalls.NONBLOCK | FileCalls.CLOEXEC);
            if (made == -Errno.EAGAIN) {
                return Optional.empty();
            }
            if (made < 0) {
                throw new ErrnoException("accept", (int) -made);
            }
            return Optional.of(new Accepted(new Descriptor(made), decode(address)));
        } finally {
            listener.done();
        }
    }

    /// The address at which the socket is bound on this side.
    public static InetSocketAddress local(Descriptor socket) throws IOException {
        int fd = socket.use("getsockname");
        try (var arena = Arena.ofConfined()) {
            MemorySegment address = arena.allocate(ADDRESS, 4);
            MemorySegment length = arena.allocateFrom(ValueLayout.JAVA_INT, ADDRESS);
            GETSOCKNAME.call(arena, fd, address.address(), length.address());
            return decode(address);
        } finally {
            socket.done();
        }
    }

    /// The destination before the kernel redirected the connection, which the client believes to be connected to.
    ///
    /// @throws ErrnoException ENOENT for a connection that the kernel did not track
    public static InetSocketAddress originalDestination(Descriptor socket) throws IOException {
        int fd = socket.use("getsockopt");
        try (var arena = Arena.ofConfined()) {
            MemorySegment address = arena.allocate(ADDRESS, 4);
            MemorySegment length = arena.allocateFrom(ValueLayout.JAVA_INT, ADDRESS);
            GETSOCKOPT.call(arena, fd, SOL_IP, SO_ORIGINAL_DST, address.address(), length.address());
            return decode(address);
        } finally {
            socket.done();
        }
    }

    /// Starts to connect. When the socket becomes writable, {@link #requireConnected} checks the result.
    public static Descriptor connect(InetSocketAddress address) throws IOException {
        return connectFrom(null, address);
    }

    /// The same from an address of this host; port 0 picks one.
    public static Descriptor connect(InetSocketAddress from, InetSocketAddress address) throws IOException {
        return connectFrom(from, address);
    }

    private static Descriptor connectFrom(@Nullable InetSocketAddress from, InetSocketAddress address)
            throws IOException {
        if (!(address.getAddress() instanceof Inet4Address)) {
            throw new NoRouteToHostException("only IPv4 can be dialled");
        }
        var socket = open();
        try (var arena = Arena.ofConfined()) {
            int fd = socket.use("connect");
            try {
                if (from != null) {
                    // The port is chosen with the destination, else no other connection of the host could have it.
                    set(socket, SOL_IP, IP_BIND_ADDRESS_NO_PORT, 1);
                    BIND.call(arena, fd, encode(arena, from).address(), ADDRESS);
                }
                long result = CONNECT.attempt(arena, fd, encode(arena, address).address(), ADDRESS);
                if (result < 0 && result != -Errno.EINPROGRESS) {
                    throw refused((int) -result);
                }
            } finally {
                socket.done();
            }
            return socket;
        } catch (IOException | RuntimeException e) {
            socket.close();
            throw e;
        }
    }

    /// Whether a socket that was being connected is connected by now. To this host that is so when `connect` returns.
    public static boolean isConnected(Descriptor socket) throws IOException {
        int fd = socket.use("getpeername");
        try (var arena = Arena.ofConfined()) {
            MemorySegment address = arena.allocate(ADDRESS, 4);
            MemorySegment length = arena.allocateFrom(ValueLayout.JAVA_INT, ADDRESS);
            return GETPEERNAME.attempt(arena, fd, address.address(), length.address()) == 0;
        } finally {
            socket.done();
        }
    }

    /// @throws ConnectException when the port is closed
    public static void requireConnected(Descriptor socket) throws IOException {
        int fd = socket.use("getsockopt");
        try (var arena = Arena.ofConfined()) {
            MemorySegment error = arena.allocate(ValueLayout.JAVA_INT);
            MemorySegment length = arena.allocateFrom(ValueLayout.JAVA_INT, 4);
            GETSOCKOPT.call(arena, fd, SOL_SOCKET, SO_ERROR, error.address(), length.address());
            int errno = error.get(ValueLayout.JAVA_INT, 0);
            if (errno != 0) {
                throw refused(errno);
            }
        } finally {
            socket.done();
        }
    }

    /// Disables Nagle's algorithm, and enables keep-alive to notice a dead peer.
    public static void tune(Descriptor socket) throws IOException {
        set(socket, IPPROTO_TCP, TCP_NODELAY, 1);
        set(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
        set(socket, IPPROTO_TCP, TCP_KEEPIDLE, KEEP_ALIVE_AFTER);
    }

    /// Ends the sending side; the peer reads the end.
    public static void shutdownOutput(Descriptor socket) throws IOException {
        shutdown(socket, SHUT_WRITE);
    }

    /// Wakes all threads that wait for this socket: reads end, writes fail. Has no effect on an unconnected one.
    public static void shutdown(Descriptor socket) {
        try {
            shutdown(socket, SHUT_BOTH);
        } catch (IOException _) {
            // The socket is closed, or was never connected.
        }
    }

    /// Makes close send a reset instead of an orderly end.
    public static void resetOnClose(Descriptor socket) {
        try (var arena = Arena.ofConfined()) {
            int fd = socket.use("setsockopt");
            try {
                MemorySegment linger = arena.allocate(8, 4);
                linger.set(ValueLayout.JAVA_INT, 0, 1);
                SETSOCKOPT.call(arena, fd, SOL_SOCKET, SO_LINGER, linger.address(), 8);
            } finally {
                socket.done();
            }
        } catch (IOException _) {
            // It is closed already.
        }
    }

    /// Moves bytes between a socket and a pipe inside the kernel.
    ///
    /// @return how many; 0 at the end of the input; a negated error number, mostly EAGAIN, when there were none to
    ///         move or no space for them
    public static int splice(Descriptor from, Descriptor to, int length) throws ErrnoException {
        int source = from.use("splice");
        try (var arena = Arena.ofConfined()) {
            int target = to.use("splice");
            try {
                return (int) SPLICE.attempt(arena, source, 0, target, 0, length, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
            } finally {
                to.done();
            }
        } finally {
            from.done();
        }
    }

    private static Descriptor open() throws IOException {
        return new Descriptor(SOCKET.call(AF_INET, SOCK_STREAM | FileCalls.NONBLOCK | FileCalls.CLOEXEC, 0));
    }

    private static void shutdown(Descriptor socket, int how) throws IOException {
        int fd = socket.use("shutdown");
        try {
            SHUTDOWN.call(fd, how);
        } finally {
            socket.done();
        }
    }

    private static void set(Descriptor socket, int level, int option, int value) throws IOException {
        int fd = socket.use("setsockopt");
        try (var arena = Arena.ofConfined()) {
            MemorySegment data = arena.allocateFrom(ValueLayout.JAVA_INT, value);
            SETSOCKOPT.call(arena, fd, level, option, data.address(), 4);
        } finally {
            socket.done();
        }
    }

    private static SocketException refused(int errno) {
        return new ConnectException(errno == Errno.ECONNREFUSED ? "connection refused" : Errno.text(errno));
    }

    private static MemorySegment encode(Arena arena, InetSocketAddress address) {
        byte[] host = address.getAddress().getAddress();
        MemorySegment text = arena.allocate(ADDRESS, 4);
        text.set(ValueLayout.JAVA_SHORT, 0, (short) AF_INET);
        text.set(ValueLayout.JAVA_BYTE, 2, (byte) (address.getPort() >> 8));
        text.set(ValueLayout.JAVA_BYTE, 3, (byte) address.getPort());
        MemorySegment.copy(host, 0, text, ValueLayout.JAVA_BYTE, 4, host.length);
        return text;
    }

    private static InetSocketAddress decode(MemorySegment address) throws UnknownHostException {
        byte[] host = address.asSlice(4, 4).toArray(ValueLayout.JAVA_BYTE);
        int port =
                ((address.get(ValueLayout.JAVA_BYTE, 2) & 0xff) << 8) + (address.get(ValueLayout.JAVA_BYTE, 3) & 0xff);
        return new InetSocketAddress(InetAddress.getByAddress(host), port);
    }
}
