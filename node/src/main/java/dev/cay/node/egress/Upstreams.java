package dev.cay.node.egress;

import dev.cay.node.linux.FdPoller;
import dev.cay.web.Deadline;
import dev.cay.web.Dialer;
import dev.cay.wire.node.Ceiling;
import dev.cay.wire.node.Egress;
import dev.cay.wire.node.EgressProxy;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.net.UnknownHostException;
import java.nio.channels.ByteChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Makes connections for sandboxes. An address is connected to only after it was checked here: it is public or the
/// operator opened it, and the operator's ceiling permits it. Thread-safe.
final class Upstreams {
    /// Time limit for connecting.
    static final Duration DIAL = Duration.ofSeconds(30);

    /// Most addresses of a host that are tried.
    static final int TRIED = 4;

    /// The address is closed for all sandboxes.
    static final class Closed extends IOException {
        Closed(String host) {
            super(host + " has no public address, or the operator does not permit it");
        }
    }

    /// Makes one connection to one address.
    private interface Way<T extends ByteChannel> {
        T connect(InetSocketAddress address, Duration limit) throws IOException;
    }

    private final Dialer.Rules rules;
    private final Ceiling ceiling;
    private final Dialer.Names names;
    private final FdPoller poller;

    /// @param names how names become addresses; has a limit of its own
    Upstreams(Dialer.Rules rules, Ceiling ceiling, Dialer.Names names, FdPoller poller) {
        this.rules = rules;
        this.ceiling = ceiling;
        this.names = names;
        this.poller = poller;
    }

    /// Whether this may be connected to at all.
    boolean permits(InetSocketAddress place) {
        return permits(place.getAddress().getHostAddress(), place.getPort(), place.getAddress());
    }

    /// Whether some port of this address may be connected to.
    boolean permits(InetAddress address) {
        String text = address.getHostAddress();
        return permits(text, 0, address) || rules.places().stream().anyMatch(place -> place.startsWith(text + ":"));
    }

    private boolean permits(String host, int port, InetAddress address) {
        // As in the firewall, the ceiling does not apply to addresses that the operator opened.
        return rules.places().contains(address.getHostAddress() + ":" + port)
                || (rules.allow(host, port, address) && ceiling.permits(address));
    }

    /// The addresses of a host, all of them checked. The result is valid for one connection: the owner of the name may
    /// give another one to the next query.
    List<InetSocketAddress> find(String host, int port) throws IOException {
        if (!ceiling.permitsName(host)) {
            throw new Closed(host);
        }
        var found = names.find(host);
        if (found.isEmpty()) {
            throw new UnknownHostException(host);
        }
        for (var address : found) {
            if (!permits(host, port, address)) {
                throw new Closed(host);
            }
        }
        return found.stream()
                .map(address -> new InetSocketAddress(address, port))
                .toList();
    }

    /// A connection that bytes are moved over in the kernel.
    EgressSocket connect(List<InetSocketAddress> places, Egress egress) throws IOException {
        return first(places, egress, (address, limit) -> EgressSocket.connect(address, poller, limit));
    }

    /// As {@link #connect}, but does not wait until the server answers.
    EgressSocket begin(InetSocketAddress place) throws IOException {
        return EgressSocket.begin(place, poller);
    }

    /// A connection that the node speaks over.
    SocketChannel open(List<InetSocketAddress> places, Egress egress) throws IOException {
        return first(places, egress, Upstreams::channel);
    }

    private static SocketChannel channel(InetSocketAddress address, Duration limit) throws IOException {
        var channel = SocketChannel.open(StandardProtocolFamily.INET);
        try {
            channel.socket().connect(address, Math.toIntExact(limit.toMillis()));
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
            return channel;
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    private <T extends ByteChannel> T first(List<InetSocketAddress> places, Egress egress, Way<T> way)
            throws IOException {
        long end = System.nanoTime() + DIAL.toNanos();
        IOException failed = new UnknownHostException("no address");
        for (var place : places.subList(0, Math.min(places.size(), TRIED))) {
            var left = Duration.ofNanos(end - System.nanoTime());
            if (!left.isPositive()) {
                break;
            }
            try {
                return connect(place, egress.proxy(), way, left);
            } catch (IOException e) {
                failed = e;
            }
        }
        throw failed;
    }

    private <T extends ByteChannel> T connect(
            InetSocketAddress place, @Nullable EgressProxy proxy, Way<T> way, Duration limit) throws IOException {
        if (proxy == null) {
            return way.connect(place, limit);
        }
        // Looked up once for each connection, and used for all of it.
        var address = Egress.Destination.parse(proxy.address());
        var channel = way.connect(find(address.host(), address.port()).getFirst(), limit);
        try (var deadline = Deadline.start(limit, channel)) {
            try {
                Socks5.connect(channel, proxy, place);
                return channel;
            } catch (IOException e) {
                channel.close();
                throw deadline.passed() ? new SocketTimeoutException("the egress proxy did not answer in time") : e;
            }
        }
    }
}
