package dev.cay.node.sandbox;

import dev.cay.http.Exchange;
import dev.cay.http.PageOrJson;
import dev.cay.node.host.Slot;
import dev.cay.node.linux.NetNamespace;
import dev.cay.proxy.AnyCertificate;
import dev.cay.proxy.LastHop;
import dev.cay.proxy.ReverseProxy;
import dev.cay.proxy.Upstream;
import dev.cay.wire.EdgeAnswer;
import dev.cay.wire.SandboxAddress;
import dev.cay.wire.SandboxId;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/// The traffic to the ports of one open sandbox: which requests are under way, and the way to servers inside.
final class PortTraffic {
    /// Addresses at which servers inside may listen; a server on all addresses is found at the first.
    private static final List<InetAddress> ADDRESSES = Stream.of("127.0.0.1", "::1", Slot.INNER_ADDRESS)
            .map(InetAddress::ofLiteral)
            .toList();

    private static final Upstream.Securing OWN_TLS = new AnyCertificate();

    /// Pauses between tries to reach a port, because a server that was just started often listens a little later.
    private static final List<Duration> PAUSES =
            Stream.of(10, 20, 40, 80, 150, 300, 400).map(Duration::ofMillis).toList();

    private final SandboxId id;
    private final String key;
    private final NetNamespace network;
    private final ReverseProxy proxy;
    private final OpenExchanges exchanges = new OpenExchanges();

    /// @param key names connections that are kept for later requests
    PortTraffic(SandboxId id, String key, NetNamespace network, ReverseProxy proxy) {
        this.id = id;
        this.key = key;
        this.network = network;
        this.proxy = proxy;
    }

    /// The requests under way.
    OpenExchanges exchanges() {
        return exchanges;
    }

    /// Cuts all connections to servers inside.
    void cutConnections() {
        proxy.cut(key);
    }

    /// Passes a request on to the server that listens at the port inside.
    void forward(int port, Exchange exchange) throws Exception {
        var over = new CountDownLatch(1);
        exchange.onEnd(over::countDown);
        try {
            proxy.forward(
                    exchange,
                    new Upstream(
                            key,
                            port,
                            wanted -> connect(wanted, over),
                            exchange.upstreamHost(),
                            LastHop.usesTls(exchange) ? OWN_TLS : null));
        } catch (ConnectException e) {
            PageOrJson.send(exchange, EdgeAnswer.portClosed(new SandboxAddress(id, port)));
        }
    }

    /// Connects to the server that listens at the port inside.
    SocketChannel dial(int port) throws IOException {
        return network.connect(port, ADDRESSES);
    }

    /// Whether a server listens at the port inside.
    boolean isOpen(int port) {
        try (var _ = dial(port)) {
            return true;
        } catch (IOException closed) {
            return false;
        }
    }

    /// Connects, and retries for about a second while the port is closed.
    ///
    /// @param over signals that the client or the sandbox has gone
    private SocketChannel connect(int port, CountDownLatch over) throws IOException {
        for (var pause : PAUSES) {
            try {
                return network.connect(port, ADDRESSES);
            } catch (ConnectException closed) {
                try {
                    if (over.await(pause.toNanos(), TimeUnit.NANOSECONDS)) {
                        throw closed;
                    }
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    throw closed;
                }
            }
        }
        return network.connect(port, ADDRESSES);
    }
}
