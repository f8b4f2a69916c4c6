package dev.cay.node.egress;

import dev.cay.http.Exchange;
import dev.cay.http.Handler;
import dev.cay.http.HttpListeners;
import dev.cay.node.linux.FdPoller;
import dev.cay.node.linux.TcpSocket;
import dev.cay.tls.EgressAuthority;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/// Leads connections whose HTTP the node reads to its HTTP server, over loopback. The server finds out by the
/// client's address and port whose connection it is; a client that nobody announced gets nothing.
///
/// Each connection comes from a loopback address of its own. The kernel gives one local port to several connections at
/// a time if their destinations differ, and to the next connection soon after a reset: the port alone would name the
/// connection of another sandbox. Thread-safe.
final class HttpBridge {
    /// A connection of a sandbox whose HTTP the node reads.
    interface Bridged {
        /// Names it among all connections of this daemon.
        String key();

        PathSandbox sandbox();

        Route route();

        /// The destination that the sandbox chose.
        InetSocketAddress destination();

        /// The host for which TLS was opened; without a name it is the address.
        String host();

        /// What its client is shown when TLS is opened.
        X509Certificate certificate();

        /// Remembers that a request for this host is on the connection.
        void asks(String host);

        /// Hosts that requests on it were for.
        Set<String> hosts();

        /// The work that is done for the first request in advance.
        Preparation prepared();

        /// Its TLS is open, as a request has come by it.
        void opened();

        /// Whether nothing more will come by it.
        boolean over();
    }

    private static final Duration LIMIT = Duration.ofSeconds(10);
    private static final InetAddress LOOPBACK = InetAddress.ofLiteral("127.0.0.1");

    /// Addresses that connections come from: 127.64.0.0/10, one after the other.
    private static final int FIRST_SOURCE = 0x7f40_0000;

    private static final int SOURCES = 1 << 22;

    private final HttpListeners listeners;
    private final EgressAuthority authority;
    private final FdPoller poller;
    private final Map<InetSocketAddress, Bridged> announced = new ConcurrentHashMap<>();
    private final AtomicInteger sources = new AtomicInteger();
    private InetSocketAddress plain = new InetSocketAddress(LOOPBACK, 0);
    private InetSocketAddress secure = new InetSocketAddress(LOOPBACK, 0);

    HttpBridge(HttpListeners listeners, EgressAuthority authority, FdPoller poller) {
        this.listeners = listeners;
        this.authority = authority;
        this.poller = poller;
    }

    void start(Handler handler) throws IOException {
        plain = listeners.listen(plain, handler);
        secure = listeners.listenTls(secure, authority.tls(this::certificateOf), handler);
    }

    /// Connects to the server, which knows the sandbox before it gets the first byte.
    EgressSocket connect(Bridged connection) throws IOException {
        var to = connection.route() == Route.REQUESTS ? plain : secure;
        var socket = EgressSocket.connect(source(), to, poller, LIMIT);
        try {
            var from = TcpSocket.local(socket.descriptor());
            if (announced.putIfAbsent(from, connection) != null) {
                throw new IOException("another connection comes from " + from);
            }
            socket.onClose(() -> announced.remove(from, connection));
            return socket;
        } catch (IOException | RuntimeException e) {
            socket.close();
            throw e;
        }
    }

    private InetSocketAddress source() throws UnknownHostException {
        int number = FIRST_SOURCE + Math.floorMod(sources.getAndIncrement(), SOURCES);
        byte[] bytes = ByteBuffer.allocate(Integer.BYTES).putInt(number).array();
        return new InetSocketAddress(InetAddress.getByAddress(bytes), 0);
    }

    /// Whose connection an exchange came by. A connection whose TLS was not opened has no exchange over TLS, and the
    /// other way round.
    Optional<Bridged> find(Exchange exchange) {
        return exchange.remote() instanceof InetSocketAddress from
                ? Optional.ofNullable(announced.get(from))
                        .filter(connection -> exchange.secure() == (connection.route() != Route.REQUESTS))
                : Optional.empty();
    }

    private Optional<X509Certificate> certificateOf(String address, int port) {
        return Optional.ofNullable(announced.get(new InetSocketAddress(InetAddress.ofLiteral(address), port)))
                .map(Bridged::certificate);
    }
}
