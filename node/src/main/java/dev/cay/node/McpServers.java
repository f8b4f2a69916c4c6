package dev.cay.node;

import dev.cay.metrics.Meters;
import dev.cay.node.egress.EgressPath;
import dev.cay.node.log.LogHub;
import dev.cay.node.mcp.GatewayAuthorizations;
import dev.cay.node.mcp.GatewayFactory;
import dev.cay.node.mcp.Gateways;
import dev.cay.node.mcp.ServerFetches;
import dev.cay.node.mcp.catalog.Catalog;
import dev.cay.node.mcp.catalog.LaunchPlan;
import dev.cay.node.mcp.intercept.Interceptors;
import dev.cay.node.mcp.oauth.Authorizations;
import dev.cay.node.mcp.remote.RemoteHome;
import dev.cay.node.mcp.seal.Seal;
import dev.cay.node.mcp.server.SandboxedHomes;
import dev.cay.node.mcp.server.ServerHome;
import dev.cay.node.mcp.server.ServerHomes;
import dev.cay.node.mcp.server.ServerInstaller;
import dev.cay.node.mcp.side.SideSandboxHost;
import dev.cay.web.Addresses;
import dev.cay.web.Dialer;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.NodeAuthorizations;
import java.io.IOException;
import java.net.InetAddress;
import java.time.InstantSource;
import org.jspecify.annotations.Nullable;

/// Gateways of sandboxes and the MCP servers behind them.
///
/// Keepers of sandboxes need the gateways, servers run in side sandboxes of the keepers, and gateways ask for servers.
/// Gateways are made first, therefore, and get no server before {@link #runIn} has said where servers run.
final class McpServers implements ServerHomes, ServerInstaller {
    /// File of the key that seals credentials.
    private static final String KEY = "mcp.key";

    private final NodeSettings settings;
    private final EgressPath path;
    private final Dialer dialer;
    private final Authorizations authorizations;
    private final Gateways gateways;
    private final ServerFetches fetches;
    private volatile @Nullable SideSandboxHost sides;
    private volatile @Nullable SandboxedHomes homes;

    /// @param path has the logs of what sandboxes tried to reach
    McpServers(NodeSettings settings, NodeVariant variant, EgressPath path, LogHub logs, Meters meters, NodeUndo undo)
            throws IOException {
        this.settings = settings;
        this.path = path;
        var mcp = settings.mcp();
        var seal = Seal.with(settings.host().stateDir().resolve(KEY));
        this.dialer = undo.add(new Dialer(Addresses.allowing(mcp.remoteAddresses()), System.getenv()));
        this.authorizations = undo.add(new Authorizations(
                dialer,
                places(),
                seal,
                new Authorizations.Bounds(
                        id -> sides().egress(id), settings.network().ceiling()),
                InstantSource.system()));
        var catalog = Catalog.load(mcp.catalogs(), mcp.overrides());
        var factory = new GatewayFactory(
                catalog,
                mcp.gateways(),
                undo.add(new Interceptors(catalog.interceptions(mcp.overrides()))),
                variant.serverHomes(this),
                authorizations,
                logs,
                InstantSource.system(),
                meters);
        this.gateways = undo.add(new Gateways(factory, authorizations, seal));
        this.fetches = new ServerFetches(catalog, this, gateways);
    }

    private Authorizations.Places places() {
        var host = settings.host();
        return new Authorizations.Places(
                settings.mcp().gateways().url(),
                id -> host.records().resolve(id.value()).resolve("mcp.tokens"),
                host.stateDir().resolve("mcp.clients"));
    }

    /// Says where servers run that this machine runs itself; once, before sandboxes are taken up.
    void runIn(SideSandboxHost sides, SandboxedHomes homes) {
        this.sides = sides;
        this.homes = homes;
    }

    Gateways gateways() {
        return gateways;
    }

    ServerFetches fetches() {
        return fetches;
    }

    /// Authorizations of MCP servers that run elsewhere.
    NodeAuthorizations authorizations() {
        return new GatewayAuthorizations(gateways, authorizations);
    }

    @Override
    public ServerHome open(SandboxId owner, LaunchPlan plan) {
        if (!(plan.start() instanceof LaunchPlan.Remote remote)) {
            return homes().open(owner, plan);
        }
        return new RemoteHome(
                plan.key(),
                remote,
                dialer.within(new Reach(owner)),
                authorizations.credentials(owner, plan.key(), remote.url()),
                () -> sides().egress(owner).internet());
    }

    @Override
    public void install(SandboxId owner, LaunchPlan plan) {
        homes().install(owner, plan);
    }

    @Override
    public String progress(LaunchPlan plan) {
        return homes().progress(plan);
    }

    /// The rules of a sandbox for connections to its remote servers.
    private final class Reach implements Dialer.Reach {
        private final SandboxId owner;

        Reach(SandboxId owner) {
            this.owner = owner;
        }

        @Override
        public boolean allows(String host, @Nullable InetAddress address, int port) {
            return sides().egress(owner)
                    .reaches(host, address, port, settings.network().ceiling());
        }

        @Override
        public void tried(String host, @Nullable InetAddress address, int port, boolean allowed) {
            path.note(owner, "mcp", host, address, port, allowed);
        }
    }

    private SideSandboxHost sides() {
        return required(sides);
    }

    private SandboxedHomes homes() {
        return required(homes);
    }

    private static <T> T required(@Nullable T part) {
        if (part == null) {
            throw new IllegalStateException("no place to run MCP servers yet");
        }
        return part;
    }
}
