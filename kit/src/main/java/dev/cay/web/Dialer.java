package dev.cay.web;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;

/// Connects to servers that users name, and only to addresses that {@link Addresses} allows.
///
/// The JDK's HTTP client looks a name up again when it connects, and the owner of the name may then give another
/// address than the one that was checked (DNS rebinding). So the dialer looks each name up once for each connection and
/// gives the socket the very address that it checked. TLS then ensures that the name's owner is at the other end.
///
/// With a proxy of the operator, the proxy looks names up, because many networks with a proxy have no DNS. The proxy's
/// own rules then decide what is reached. Non-public addresses, and names that only mean something near the proxy, are
/// still refused here.
public final class Dialer implements Lines, AutoCloseable {
    private static final Duration CONNECT = Duration.ofSeconds(10);

    private static final int TRIED = 4;

    /// Looks names up.
    public interface Names {
        List<InetAddress> find(String host) throws IOException;
    }

    /// Which connections may be made.
    ///
    /// @param places    `address:port` that may be called beside what the addresses allow
    /// @param plainHttp whether all may be called without TLS, and not only what the operator names
    /// @param setting   by which the operator allows more, for messages
    public record Rules(Addresses addresses, Set<String> places, boolean plainHttp, String setting) {
        public Rules {
            places = Set.copyOf(places);
        }

        /// Rules for MCP servers, which get credentials of users.
        static Rules ofServers(Addresses addresses) {
            return new Rules(addresses, Set.of(), false, "mcp.remoteAddresses");
        }

        /// Whether this address may be connected to for this host.
        public boolean allow(String host, int port, InetAddress address) {
            return addresses.allow(host, address) || places.contains(address.getHostAddress() + ":" + port);
        }
    }

    private final Rules rules;
    private final Addresses addresses;
    private final Names names;
    private final Supplier<SSLContext> tls;
    private final @Nullable HostProxy proxy;
    private final Lookups lookups = new Lookups();

    /// @param environment the daemon's, of which `HTTPS_PROXY` and `NO_PROXY` are used
    public Dialer(Addresses addresses, Map<String, String> environment) {
        this(Rules.ofServers(addresses), Dialer::addressesOf, onFirstUse(HostRoots::tls), HostProxy.of(environment));
    }

    /// A dialer with other rules.
    public Dialer(Rules rules, Map<String, String> environment) {
        this(rules, Dialer::addressesOf, onFirstUse(HostRoots::tls), HostProxy.of(environment));
    }

    /// A dialer that uses no proxy.
    public Dialer(Rules rules) {
        this(rules, Dialer::addressesOf, onFirstUse(HostRoots::tls), null);
    }

    private static List<InetAddress> addressesOf(String host) throws IOException {
        return List.of(InetAddress.getAllByName(host));
    }

    /// @param names how names become addresses, if not as the host does it
    public Dialer(Addresses addresses, Names names, SSLContext tls, @Nullable HostProxy proxy) {
        this(Rules.ofServers(addresses), names, () -> tls, proxy);
    }

    /// A dialer with other rules and without a proxy.
    public Dialer(Rules rules, Names names, SSLContext tls) {
        this(rules, names, () -> tls, null);
    }

    private Dialer(Rules rules, Names names, Supplier<SSLContext> tls, @Nullable HostProxy proxy) {
        this.rules = rules;
        this.addresses = rules.addresses();
        this.names = names;
        this.tls = tls;
        this.proxy = proxy;
    }

    /// The certificates of a host are many, and the start of a daemon needs none of them.
    private static Supplier<SSLContext> onFirstUse(Supplier<SSLContext> make) {
        var made = new AtomicReference<@Nullable SSLContext>();
        return () -> Objects.requireNonNull(made.updateAndGet(known -> known == null ? make.get() : known));
    }

    /// A further check of each connection, for example by the egress rules of the sandbox that it is made for.
    public interface Reach {
        /// @param address null when a proxy looks the host up
        boolean allows(String host, @Nullable InetAddress address, int port);

        /// A connection begins, or was refused by {@link #allows}.
        default void tried(String host, @Nullable InetAddress address, int port, boolean allowed) {}
    }

    private interface Way {
        void connect(Socket socket) throws IOException;
    }

    /// A connection over which requests can be sent, to the first of the host's addresses that answers.
    @Override
    public WebLine open(UrlOrigin origin) throws IOException {
        return open(origin, (_, _, _) -> true, null);
    }

    /// The same connections, but the check is asked for each of them.
    public Lines within(Reach reach) {
        return origin -> open(origin, reach, null);
    }

    /// The same connections, to hosts that this owner chose: names that nobody answers for hold up no other owner.
    public Lines forOwner(String owner) {
        return origin -> open(origin, (_, _, _) -> true, owner);
    }

    private WebLine open(UrlOrigin origin, Reach reach, @Nullable String owner) throws IOException {
        if (proxy != null && proxy.serves(origin)) {
            checkUnresolved(origin);
            require(reach, origin, origin.literal().orElse(null));
            reach.tried(origin.host(), origin.literal().orElse(null), origin.port(), true);
            return dial(origin, CONNECT, socket -> proxy.connect(socket, origin, CONNECT));
        }
        var found = checked(origin, owner);
        for (var address : found) {
            require(reach, origin, address);
        }
        var limit = found.size() == 1 ? CONNECT : CONNECT.dividedBy(2);
        IOException failed = new UnknownHostException(origin.host());
        for (var address : found.subList(0, Math.min(found.size(), TRIED))) {
            reach.tried(origin.host(), address, origin.port(), true);
            try {
                return dial(origin, limit, socket -> socket.connect(new InetSocketAddress(address, origin.port())));
            } catch (IOException e) {
                failed = e;
            }
        }
        throw failed;
    }

    /// Checks an origin that an owner chose by the rules of {@link #open}, without connecting.
    ///
    /// @throws IOException if the name cannot be looked up, which says nothing about the rules
    public void check(UrlOrigin origin, String owner) throws IOException {
        if (proxy != null && proxy.serves(origin)) {
            checkUnresolved(origin);
        } else {
            checked(origin, owner);
        }
    }

    /// Whether the operator named this host, or the literal address. A name that resolves to a named address is not
    /// enough, because the owner of the name decides what it resolves to.
    public boolean isNamed(UrlOrigin origin) {
        return addresses.named(origin.host())
                || origin.literal()
                        .filter(address -> addresses.named(origin.host(), address))
                        .isPresent();
    }

    /// The same dialer without the addresses that the operator named. The caller closes it separately.
    public Dialer withoutNamed() {
        var open = new Rules(Addresses.allowing(List.of()), rules.places(), rules.plainHttp(), rules.setting());
        return new Dialer(open, names, tls, proxy);
    }

    private WebLine dial(UrlOrigin origin, Duration limit, Way way) throws IOException {
        var socket = new Socket();
        boolean done = false;
        try (var deadline = Deadline.start(limit, socket)) {
            try {
                way.connect(socket);
                socket.setOption(StandardSocketOptions.TCP_NODELAY, true);
                // A stream may be silent for hours; keep-alive finds out whether the peer still exists.
                socket.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
                var line = new WebLine(origin, socket, origin.secure() ? secured(origin, socket) : socket);
                done = true;
                return line;
            } catch (IOException e) {
                throw deadline.passed() ? new SocketTimeoutException("no connection in time") : e;
            }
        } finally {
            if (!done) {
                socket.close();
            }
        }
    }

    /// Looks the host up and checks every address. Only these addresses may be connected to.
    private List<InetAddress> checked(UrlOrigin origin, @Nullable String owner) throws IOException {
        var found = lookups.call(CONNECT, owner, () -> names.find(origin.host()));
        if (found.isEmpty()) {
            throw new UnknownHostException(origin.host());
        }
        for (var address : found) {
            if (!rules.allow(origin.host(), origin.port(), address)) {
                throw refused(origin, "is not a public address");
            }
        }
        if (!origin.secure()
                && !rules.plainHttp()
                && !found.stream().allMatch(address -> addresses.named(origin.host(), address))) {
            throw refused(origin, "is called by http, which anybody on the way can read; use https");
        }
        return found;
    }

    private static void require(Reach reach, UrlOrigin origin, @Nullable InetAddress address) {
        if (!reach.allows(origin.host(), address, origin.port())) {
            reach.tried(origin.host(), address, origin.port(), false);
            throw new CayException(
                    ErrorKind.PERMISSION_DENIED,
                    "the egress rules of this sandbox do not allow %s".formatted(origin.host()));
        }
    }

    private void checkUnresolved(UrlOrigin origin) {
        var literal = origin.literal();
        boolean allowed = literal.isPresent()
                ? addresses.allow(origin.host(), literal.get())
                : addresses.named(origin.host()) || HostProxy.worldwide(origin.host());
        if (!allowed) {
            throw refused(origin, "is not a public address");
        }
    }

    private CayException refused(UrlOrigin origin, String why) {
        return new CayException(
                ErrorKind.PERMISSION_DENIED,
                "%s %s; the operator can allow it in %s".formatted(origin.host(), why, rules.setting()));
    }

    private Socket secured(UrlOrigin origin, Socket socket) throws IOException {
        var secured = (SSLSocket) tls.get().getSocketFactory().createSocket(socket, origin.host(), origin.port(), true);
        var parameters = secured.getSSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        parameters.setApplicationProtocols(new String[] {"http/1.1"});
        secured.setSSLParameters(parameters);
        secured.startHandshake();
        return secured;
    }

    @Override
    public void close() {
        lookups.close();
    }

    /// Describes a failure as the end of a sentence about the server.
    public static String why(IOException failure) {
        return switch (failure) {
            case UnknownHostException _ -> "its host name is not known";
            case SocketTimeoutException _ -> "it does not answer in time";
            case ConnectException _ -> "it takes no connections";
            case SSLException _ -> "no secure connection can be made: " + failure.getMessage();
            default -> failure.getMessage() == null ? "the connection broke" : failure.getMessage();
        };
    }
}
