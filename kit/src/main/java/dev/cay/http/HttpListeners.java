package dev.cay.http;

import dev.cay.wire.SandboxId;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.channels.ServerSocketChannel;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import org.eclipse.jetty.alpn.server.ALPNServerConnectionFactory;
import org.eclipse.jetty.http.UriCompliance;
import org.eclipse.jetty.http2.server.AbstractHTTP2ServerConnectionFactory;
import org.eclipse.jetty.io.WindowRateControl;
import org.eclipse.jetty.server.ConnectionFactory;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.SslConnectionFactory;
import org.eclipse.jetty.util.ssl.SslContextFactory;
import org.eclipse.jetty.util.thread.VirtualThreadPool;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Accepts connections and turns them into exchanges: HTTP/1.1, and HTTP/2 by ALPN on TLS or by prior knowledge.
///
/// One server, one set of selectors and one pool of virtual threads for all listeners, whether a host port or a socket
/// that was opened inside a sandbox's network namespace. A listener costs a descriptor, not a thread.
public final class HttpListeners implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(HttpListeners.class);
    private static final int BACKLOG = 1024;
    private static final int HEAD_LIMIT = 64 * 1024;
    private static final Duration IDLE = Duration.ofSeconds(640);
    private static final Duration GRACE = Duration.ofSeconds(1);

    private final Server server;
    private final SharedConnector connector;
    private final ConnectionFactory plain;
    private final Map<SSLContext, ConnectionFactory> secure = new ConcurrentHashMap<>();
    private final ExchangeAdapter exchanges;
    private final List<SharedConnector.Serving> open = new CopyOnWriteArrayList<>();

    public HttpListeners() {
        this(ClientAddresses.PEERS);
    }

    /// @param clients which proxies are believed
    public HttpListeners(ClientAddresses clients) {
        exchanges = new ExchangeAdapter(clients);
        var threads = new VirtualThreadPool();
        // Jetty's default of 200 would let a few hundred idle streams block all other connections.
        threads.setMaxConcurrentTasks(0);
        threads.setName("http");
        server = new Server(threads);
        server.setHandler(exchanges);
        server.setErrorHandler(new JettyErrors());
        HttpConfiguration configuration = configuration();
        plain = new Http1Connection.Factory(configuration);
        connector = new SharedConnector(
                server,
                IDLE,
                plain,
                roomy(new PriorKnowledge(configuration)),
                alpn(),
                roomy(new SecureHttp2(configuration)));
        server.addConnector(connector);
    }

    /// Starts the server. Does nothing if it runs; listening starts it too.
    public synchronized void start() {
        try {
            server.start();
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException("the HTTP server does not start", e);
        }
    }

    /// Serves a host address; port 0 picks one. Returns where it listens.
    ///
    /// @throws java.net.BindException when the port is taken
    public InetSocketAddress listen(InetSocketAddress address, Handler handler) throws IOException {
        return listen(address, plain, handler);
    }

    /// Listens with TLS, and serves plain HTTP on the same port to clients that begin so.
    public InetSocketAddress listenTls(InetSocketAddress address, SSLContext tls, Handler handler) throws IOException {
        return listen(address, secured(tls), handler);
    }

    /// Serves a bound socket inside a sandbox; as {@link #listenTls} does, by the other method. Closing the returned
    /// object closes the socket and, at
    /// once, all connections accepted from it; when it returns, no descriptor of them is left.
    public AutoCloseable adopt(ServerSocketChannel socket, SandboxId inside, Handler handler) throws IOException {
        return serve(socket, inside, plain, handler);
    }

    public AutoCloseable adoptTls(ServerSocketChannel socket, SandboxId inside, SSLContext tls, Handler handler)
            throws IOException {
        return serve(socket, inside, secured(tls), handler);
    }

    /// Stops accepting, gives open exchanges a short time, then cuts them.
    @Override
    public void close() {
        try {
            for (SharedConnector.Serving listener : open) {
                listener.stopAccepting();
            }
            exchanges.drain(GRACE);
            for (SharedConnector.Serving listener : open) {
                listener.close();
            }
            server.stop();
            exchanges.close();
        } catch (Exception e) {
            log.atWarn().setCause(e).log("the HTTP server did not stop cleanly");
        }
    }

    private InetSocketAddress listen(InetSocketAddress address, ConnectionFactory protocol, Handler handler)
            throws IOException {
        var family = address.getAddress() instanceof java.net.Inet4Address
                ? StandardProtocolFamily.INET
                : StandardProtocolFamily.INET6;
        var socket = ServerSocketChannel.open(family);
        try {
            socket.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            socket.bind(address, BACKLOG);
            serve(socket, null, protocol, handler);
            return (InetSocketAddress) socket.getLocalAddress();
        } catch (IOException | RuntimeException e) {
            socket.close();
            throw e;
        }
    }

    private AutoCloseable serve(
            ServerSocketChannel socket, @Nullable SandboxId inside, ConnectionFactory protocol, Handler handler)
            throws IOException {
        start();
        SharedConnector.Serving serving = connector.serve(socket, new ListeningPort(inside, protocol, handler));
        open.add(serving);
        return () -> {
            open.remove(serving);
            serving.close();
        };
    }

    private ConnectionFactory secured(SSLContext tls) {
        return secure.computeIfAbsent(tls, context -> {
            var keys = new SslContextFactory.Server();
            keys.setSslContext(context);
            var factory = new SslConnectionFactory(keys, "alpn");
            var either = new EitherProtocol(factory, plain);
            connector.addBean(either, true);
            start();
            try {
                either.start();
            } catch (Exception e) {
                throw new IllegalStateException("TLS does not start", e);
            }
            return either;
        });
    }

    private static HttpConfiguration configuration() {
        var configuration = new HttpConfiguration();
        configuration.setRequestHeaderSize(HEAD_LIMIT);
        configuration.setResponseHeaderSize(HEAD_LIMIT);
        configuration.setSendServerVersion(false);
        configuration.setSendDateHeader(false);
        configuration.setSendXPoweredBy(false);
        // Paths are data: names with slashes and colons in them arrive percent-encoded, and a proxy must
        // not judge them.
        configuration.setUriCompliance(UriCompliance.UNSAFE);
        return configuration;
    }

    private static ALPNServerConnectionFactory alpn() {
        var alpn = new ALPNServerConnectionFactory("h2", "http/1.1");
        alpn.setDefaultProtocol("http/1.1");
        return alpn;
    }

    private static <F extends AbstractHTTP2ServerConnectionFactory> F roomy(F factory) {
        factory.setMaxConcurrentStreams(1024);
        factory.setInitialStreamRecvWindow(1024 * 1024);
        factory.setInitialSessionRecvWindow(8 * 1024 * 1024);
        // One client opens hundreds of streams and cancels them; Jetty's limit of 128 a second would end its
        // connection.
        factory.setRateControlFactory(new WindowRateControl.Factory(4096));
        // Upgrades are tunnelled on HTTP/1.1 only, so browsers must not be told that WebSocket works over HTTP/2.
        factory.setConnectProtocolEnabled(false);
        factory.setStreamIdleTimeout(TimeUnit.SECONDS.toMillis(640));
        return factory;
    }
}
