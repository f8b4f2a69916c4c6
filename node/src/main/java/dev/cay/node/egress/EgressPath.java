package dev.cay.node.egress;

import dev.cay.http.HttpListeners;
import dev.cay.life.FairShare;
import dev.cay.node.linux.Descriptor;
import dev.cay.node.linux.FdPoller;
import dev.cay.node.linux.TcpSocket;
import dev.cay.node.network.NameFilter;
import dev.cay.node.network.PathRules;
import dev.cay.node.network.SandboxOwners;
import dev.cay.proxy.ReverseProxy;
import dev.cay.tls.EgressAuthority;
import dev.cay.tls.HostCertificates;
import dev.cay.web.Dialer;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.Ceiling;
import dev.cay.wire.node.Egress;
import dev.cay.wire.node.EgressEntry;
import dev.cay.wire.node.EgressSeen;
import dev.cay.wire.node.Placeholders;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Supplier;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The path through the node for TCP of sandboxes whose rules need more than addresses. The firewall redirects their
/// connections to one port of the gateway address; the source address, which the firewall has checked, identifies the
/// sandbox. Thread-safe.
///
/// While the daemon is down the port is closed, and sandboxes on the path reach nothing.
public final class EgressPath implements PathRules, AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(EgressPath.class);
    private static final int BACKLOG = 1024;
    private static final int DNS = 53;
    private static final int ALL_CONNECTIONS = 32_768;
    private static final Duration IDLE = Duration.ofHours(1);

    /// The parts of the node that the path uses.
    ///
    /// @param listeners the node's HTTP servers
    /// @param proxy     passes requests on
    /// @param authority signs for hosts whose TLS is opened
    /// @param trust     the certificate authorities for servers outside
    public record Surroundings(
            HttpListeners listeners, ReverseProxy proxy, EgressAuthority authority, Supplier<SSLContext> trust) {}

    private final InetSocketAddress address;
    private final EgressAuthority authority;
    private final FdPoller poller;
    private final PathParts parts;
    private final Map<SandboxId, PathSandbox> byId = new ConcurrentHashMap<>();
    private final Map<InetAddress, PathSandbox> bySource = new ConcurrentHashMap<>();
    private final FairShare connections = new FairShare(ALL_CONNECTIONS);
    private final KnownLogs logs;
    private volatile @Nullable Descriptor listener;
    private volatile @Nullable EgressAcceptor arrivals;

    /// @param address where the firewall redirects connections to
    /// @param rules   which addresses may be connected to
    /// @param names   how names become addresses
    public EgressPath(
            InetSocketAddress address,
            Dialer.Rules rules,
            Ceiling ceiling,
            Dialer.Names names,
            Surroundings around,
            InstantSource clock)
            throws IOException {
        this.address = address;
        this.authority = around.authority();
        this.logs = new KnownLogs(clock);
        this.poller = new FdPoller();
        var upstreams = new Upstreams(rules, ceiling, names, poller);
        var bridge = new HttpBridge(around.listeners(), authority, poller);
        var gate = new HttpGate(bridge, upstreams, new UpstreamTls(around.trust()), around.proxy());
        this.parts = new PathParts(
                upstreams, bridge, gate, new Openings(new HostCertificates(authority::sign, clock)), new Relays(IDLE));
    }

    /// Sets the source of values for placeholders in rules; without it, requests that need one fail.
    public void fillPlaceholders(Placeholders values) {
        parts.gate().fillPlaceholders(values);
    }

    /// Sets who knows the owners of sandboxes. Sandboxes of one team share what the path has for it, and what a side
    /// sandbox tries is in the log of its owner.
    public void ownedBy(SandboxOwners known) {
        logs.ownedBy(known);
    }

    /// Starts to accept connections. The gateway's address must be on the host.
    public void start() {
        poller.start();
        parts.relays().start();
        try {
            parts.bridge().start(parts.gate());
            var socket = TcpSocket.listen(address, BACKLOG);
            listener = socket;
            var taking = new EgressAcceptor(socket, this::admit, this::begin);
            arrivals = taking;
            taking.start();
        } catch (IOException e) {
            throw new CayException(
                    ErrorKind.UNAVAILABLE,
                    "port %d of %s cannot be used for connections of sandboxes: %s (`ss -lntp sport = :%d` names who has it)"
                            .formatted(address.getPort(), address.getHostString(), e.getMessage(), address.getPort()),
                    e);
        }
    }

    /// The address of the port, for a path that was given port 0.
    public InetSocketAddress address() throws IOException {
        var socket = listener;
        return socket == null ? address : TcpSocket.local(socket);
    }

    @Override
    public synchronized void put(SandboxId id, InetAddress source, Egress egress) {
        var rules = new EgressRules(egress);
        var known = byId.get(id);
        if (known != null && known.source().equals(source)) {
            known.become(rules);
            return;
        }
        remove(id);
        var sandbox = new PathSandbox(id, source, rules, logs.hold(id));
        byId.put(id, sandbox);
        var before = bySource.put(source, sandbox);
        if (before != null) {
            before.remove();
        }
    }

    @Override
    public synchronized void remove(SandboxId id) {
        var known = byId.remove(id);
        if (known != null) {
            bySource.remove(known.source(), known);
            known.remove();
            logs.giveBack(known.held());
        }
    }

    @Override
    public Optional<NameFilter> names(InetAddress client) {
        return Optional.ofNullable(bySource.get(client)).map(sandbox -> new SandboxNames(sandbox, parts.upstreams()));
    }

    /// Reports the first refusal of each kind of a sandbox, until the returned object is closed.
    public AutoCloseable onRefusal(SandboxId id, Consumer<EgressEntry> listener) {
        return logs.onRefusal(id, listener);
    }

    /// Notes a connection that the node makes for a sandbox, which need not be on the path.
    ///
    /// @param protocol that it is for
    /// @param address  null if a proxy looks the host up
    public void note(
            SandboxId id, String protocol, String host, @Nullable InetAddress address, int port, boolean allowed) {
        String text = address == null ? null : address.getHostAddress();
        logs.of(id).note(protocol, host, text, port, allowed, "none");
    }

    @Override
    public void refused(SandboxId id, String protocol, InetAddress address, int port) {
        logs.of(id).note(protocol, null, address.getHostAddress(), port, false, "none");
    }

    @Override
    public void refusedName(SandboxId id, String name) {
        logs.of(id).note("dns", name, null, DNS, false, "none");
    }

    /// What the sandbox tried to reach, as far as it is remembered.
    public EgressSeen seen(SandboxId id) {
        return logs.seen(id);
    }

    /// The certificate that sandboxes must trust where TLS is opened.
    public String certificate() {
        return authority.pem();
    }

    @Override
    public void close() {
        var taking = arrivals;
        if (taking != null) {
            taking.close();
        }
        byId.values().forEach(PathSandbox::remove);
        parts.relays().close();
        poller.close();
    }

    /// Finds the sandbox of a connection; empty if there is none, or if it or its team has its share of connections.
    private Optional<EgressConnection> admit(TcpSocket.Accepted accepted) {
        var sandbox = bySource.get(accepted.peer().getAddress());
        if (sandbox == null) {
            TcpSocket.resetOnClose(accepted.socket());
            accepted.socket().close();
            return Optional.empty();
        }
        var guest = new EgressSocket(accepted.socket(), poller);
        try {
            TcpSocket.tune(guest.descriptor());
            var destination = TcpSocket.originalDestination(guest.descriptor());
            var connection = new EgressConnection(sandbox, destination, guest, parts);
            if (destination.getAddress().equals(address.getAddress()) || !connections.enter(sandbox.team())) {
                guest.cut();
                return Optional.empty();
            }
            if (!sandbox.admit(connection)) {
                connections.leave(sandbox.team());
                guest.cut();
                return Optional.empty();
            }
            return Optional.of(connection);
        } catch (IOException e) {
            // A connection that was not redirected was made to this port itself, which serves nothing.
            guest.cut();
            log.atDebug()
                    .setCause(e)
                    .addKeyValue("sandbox", sandbox.id())
                    .log("a connection on the egress path has no original destination");
            return Optional.empty();
        }
    }

    private void begin(EgressConnection connection) {
        var sandbox = connection.sandbox();
        Thread.ofVirtual().name("egress-" + sandbox.id().value()).start(() -> run(sandbox, connection));
    }

    private void run(PathSandbox sandbox, EgressConnection connection) {
        try {
            connection.run();
        } catch (RuntimeException e) {
            log.atError().setCause(e).addKeyValue("sandbox", sandbox.id()).log("a connection of a sandbox failed");
        } finally {
            sandbox.leave(connection);
            connections.leave(sandbox.team());
        }
    }
}
