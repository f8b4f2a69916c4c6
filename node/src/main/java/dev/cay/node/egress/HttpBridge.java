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
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/// Leads connections whose HTTP the node reads to its HTTP server, over loopback. The server finds out by the
/// client's port whose connection it is; a client that nobody announced gets nothing. Thread-safe.
final class HttpBridge {
    /// A connection of a sandbox whose HTTP the node reads.
    interface Bridged {
        /// Names it among all connections of this daemon.
        String key();

        PathSandbox sandbox();

        Route route();

        /// Where the sandbox believes to be connected to.
        InetSocketAddress destination();

        /// For which host TLS was opened; without a name it is the address.
        String host();

        /// Remembers that a request for this host is on the connection.
        void asks(String host);

        /// Hosts that requests on it were for.
        Set<String> hosts();

        /// What is done for its first request before that is there.
        Preparation prepared();

        /// Whether nothing more will come by it.
        boolean over();
    }

    private static final Duration LIMIT = Duration.ofSeconds(10);
    private static final InetAddress LOOPBACK = InetAddress.ofLiteral("127.0.0.1");

    private final HttpListeners listeners;
    private final EgressAuthority authority;
    private final FdPoller poller;
    private final Map<Integer, Bridged> announced = new ConcurrentHashMap<>();
    private InetSocketAddress plain = new InetSocketAddress(LOOPBACK, 0);
    private InetSocketAddress secure = new InetSocketAddress(LOOPBACK, 0);

    HttpBridge(HttpListeners listeners, EgressAuthority authority, FdPoller poller) {
        this.listeners = listeners;
        this.authority = authority;
        this.poller = poller;
    }

    void start(Handler handler) throws IOException {
        plain = listeners.listen(plain, handler);
        secure = listeners.listenTls(secure, authority.tls(this::hostOf), handler);
    }

    /// A connection to the server, which knows whose it is before it gets the first byte.
    EgressSocket connect(Bridged connection) throws IOException {
        var to = connection.route() == Route.REQUESTS ? plain : secure;
        var socket = EgressSocket.connect(to, poller, LIMIT);
        try {
            int port = TcpSocket.local(socket.descriptor()).getPort();
            announced.put(port, connection);
            socket.onClose(() -> announced.remove(port, connection));
            return socket;
        } catch (IOException | RuntimeException e) {
            socket.close();
            throw e;
        }
    }

    /// Whose connection an exchange came by.
    Optional<Bridged> find(Exchange exchange) {
        return exchange.remote() instanceof InetSocketAddress from && LOOPBACK.equals(from.getAddress())
                ? Optional.ofNullable(announced.get(from.getPort()))
                : Optional.empty();
    }

    private Optional<String> hostOf(String address, int port) {
        return address.equals(LOOPBACK.getHostAddress())
                ? Optional.ofNullable(announced.get(port)).map(Bridged::host)
                : Optional.empty();
    }
}
