package dev.cay.node.linux;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.net.BindException;
import java.net.ConnectException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ProtocolFamily;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;

/// The network (and host name) of another process, reached by a thread that hops in, makes a socket and comes back. A
/// socket belongs to the namespace it was made in for all its life, so all the rest happens outside.
///
/// Holds the namespace alive, as does every socket made here: close all of them before a checkpoint and at the end.
public final class NetNamespace implements AutoCloseable {
    private static final NativeCall SETNS = NativeCall.of("setns");
    private static final NativeCall SETHOSTNAME = NativeCall.of("sethostname");
    private static final int NEWUTS = 0x04000000;
    private static final int NEWNET = 0x40000000;
    private static final Duration LIMIT = Duration.ofSeconds(10);
    private static final int CONNECT_MILLIS = 10_000;
    private static final int BACKLOG = 1024;

    private final Descriptor network;
    private final Descriptor names;
    private final HostThreads threads;

    private NetNamespace(Descriptor network, Descriptor names, HostThreads threads) {
        this.network = network;
        this.names = names;
        this.threads = threads;
    }

    /// @param pid     as the host sees it
    /// @param threads may be shared by all namespaces; two are plenty
    public static NetNamespace open(long pid, HostThreads threads) throws IOException {
        return threads.call(LIMIT, () -> {
            Descriptor network = FileCalls.open("/proc/%d/ns/net".formatted(pid), FileCalls.READ, 0);
            try {
                Descriptor names = FileCalls.open("/proc/%d/ns/uts".formatted(pid), FileCalls.READ, 0);
                return new NetNamespace(network, names, threads);
            } catch (ErrnoException e) {
                network.close();
                throw e;
            }
        });
    }

    /// Listens on all addresses, IPv6 included where the host has it.
    ///
    /// @throws java.net.BindException when a process inside has the port
    public ServerSocketChannel listen(int port) throws IOException {
        ServerSocketChannel channel = inside(network, NEWNET, "net", ServerSocketChannel::open);
        try {
            channel.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            return channel.bind(new InetSocketAddress(port), BACKLOG);
        } catch (BindException e) {
            channel.close();
            throw (BindException) new BindException(
                            "a process in the sandbox listens on port %d, which the node needs".formatted(port))
                    .initCause(e);
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    /// Connects to the first of these addresses at which a server listens.
    ///
    /// @throws java.net.ConnectException when the port is closed on all of them
    public SocketChannel connect(int port, List<InetAddress> addresses) throws IOException {
        ConnectException refused = null;
        for (var address : addresses) {
            try {
                return connect(address, port);
            } catch (ConnectException e) {
                refused = refused == null ? e : refused;
            } catch (IOException | UnsupportedOperationException e) {
                // A host may lack IPv6, and root inside may have taken an address away; the first one speaks for all.
                if (refused == null) {
                    throw e;
                }
            }
        }
        throw refused == null ? new ConnectException("no address") : refused;
    }

    private SocketChannel connect(InetAddress address, int port) throws IOException {
        ProtocolFamily family =
                address instanceof Inet4Address ? StandardProtocolFamily.INET : StandardProtocolFamily.INET6;
        SocketChannel channel = inside(network, NEWNET, "net", () -> SocketChannel.open(family));
        try {
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            // The socket view is the only one with a limit: root inside may drop the packets.
            channel.socket().connect(new InetSocketAddress(address, port), CONNECT_MILLIS);
            return channel;
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    /// Connects to an abstract unix stream address (`\0name`); the descriptor does not block.
    public Descriptor connectAbstract(String name) throws IOException {
        Descriptor socket = inside(network, NEWNET, "net", UnixSocket::open);
        try {
            UnixSocket.connectAbstract(socket, name);
            return socket;
        } catch (ErrnoException e) {
            socket.close();
            throw e;
        }
    }

    /// Sets the host name of the process's uts namespace, which the sandbox itself may not.
    public void setHostname(String name) throws IOException {
        byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
        inside(names, NEWUTS, "uts", () -> {
            try (var arena = Arena.ofConfined()) {
                var text = arena.allocateFrom(ValueLayout.JAVA_BYTE, bytes);
                return SETHOSTNAME.call(arena, text.address(), bytes.length);
            }
        });
    }

    private <T> T inside(Descriptor namespace, int kind, String name, HostThreads.Action<T> action) throws IOException {
        return threads.call(LIMIT, () -> {
            try (var home = FileCalls.open("/proc/thread-self/ns/" + name, FileCalls.READ, 0)) {
                enter(namespace, kind);
                try {
                    return action.run();
                } finally {
                    comeHome(home, kind);
                }
            }
        });
    }

    private static void enter(Descriptor namespace, int kind) throws ErrnoException {
        int fd = namespace.use("setns");
        try {
            SETNS.call(fd, kind);
        } finally {
            namespace.done();
        }
    }

    private static void comeHome(Descriptor home, int kind) {
        try {
            enter(home, kind);
        } catch (ErrnoException e) {
            throw new HostThreads.Tainted(e);
        }
    }

    @Override
    public void close() {
        network.close();
        names.close();
    }
}
