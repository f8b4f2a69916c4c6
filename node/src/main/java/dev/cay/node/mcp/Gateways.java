package dev.cay.node.mcp;

import dev.cay.http.Json;
import dev.cay.life.WholeFile;
import dev.cay.metrics.Meters;
import dev.cay.node.log.LogHub;
import dev.cay.node.mcp.catalog.Catalog;
import dev.cay.node.mcp.catalog.LaunchPlan;
import dev.cay.node.mcp.catalog.ServerOverride;
import dev.cay.node.mcp.catalog.ServerWay;
import dev.cay.node.mcp.intercept.Interceptors;
import dev.cay.node.mcp.oauth.Authorizations;
import dev.cay.node.mcp.seal.Seal;
import dev.cay.node.mcp.server.ChosenHome;
import dev.cay.node.mcp.server.ServerHomes;
import dev.cay.node.mcp.server.ServerInstaller;
import dev.cay.wire.AccessToken;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import dev.cay.wire.SystemPorts;
import dev.cay.wire.node.Egress;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.node.ObjectNode;

/// The MCP gateways of all sandboxes of this node. Thread-safe.
///
/// What a user wants of a gateway lies sealed with what is known of the sandbox's processes, so that it is saved,
/// copied and removed with them: a fork has the same servers, and a restart of the daemon none less.
public final class Gateways implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Gateways.class);
    private static final String FILE = "mcp.sealed";

    /// @param folder where it is kept what is wanted of it
    private record Running(McpGateway gateway, GatewaySettings settings, byte[] sealed, Path folder) {}

    private final Catalog catalog;
    private final CustomServers custom;
    private final MetaChoice metaTools;
    private final Interceptors interceptors;
    private final ServerHomes homes;
    private final Authorizations authorizations;
    private final ServerInstaller installer;
    private final Seal seal;
    private final LogHub logs;
    private final InstantSource clock;
    private final GatewayMeters meters;
    private final Map<SandboxId, Running> running = new HashMap<>();

    /// @param installer fetches what a server needs to start, and starts nothing
    /// @param key       file of the key that seals credentials
    public Gateways(
            Catalog catalog,
            GatewayRules rules,
            Interceptors interceptors,
            ServerHomes homes,
            Authorizations authorizations,
            ServerInstaller installer,
            Path key,
            LogHub logs,
            InstantSource clock,
            Meters meters)
            throws IOException {
        this.catalog = catalog;
        this.custom = new CustomServers(rules.repositories());
        this.metaTools = rules.metaTools();
        this.interceptors = interceptors;
        this.homes = homes;
        this.authorizations = authorizations;
        this.installer = installer;
        this.seal = Seal.with(key);
        this.logs = logs;
        this.clock = clock;
        this.meters = new GatewayMeters(meters);
    }

    /// Begins a gateway, in place of one that was there if the caller shows its token. Refuses settings that are wrong,
    /// with the reason; whether servers work is seen when they start, in the background.
    ///
    /// @param folder of what is known of the sandbox's processes
    public McpGateway start(SandboxId id, Path folder, GatewayControl.Wanted wanted) {
        var settings = GatewaySettings.read(wanted.config(), wanted.token(), wanted.metaTools());
        var plans = settings.plans(catalog, custom);
        GatewaySettings.requireNoMistake(plans);
        var gateway = replacing(id, () -> {
            requireToken(folder, wanted.shown(), wanted.token());
            return put(id, settings, plans, write(folder, settings), folder);
        });
        authorizations.retain(id, settings.keys());
        plans.forEach(planned ->
                planned.plan().warnings().forEach(warning -> gateway.log().say(warning)));
        gateway.probe();
        return gateway;
    }

    /// Refuses who does not know the token of the gateway that a sandbox has, whether that runs or could not be
    /// recalled. A gateway without a token is anybody's inside, and so is the place of none.
    ///
    /// @param folder of what is known of the sandbox's processes
    /// @param shown  null for none
    /// @param given  the same, from another place: one of the two must be right
    public synchronized void requireToken(Path folder, @Nullable String shown, @Nullable String given) {
        Optional<GatewaySettings> there;
        try {
            there = seal.open(Files.readAllBytes(folder.resolve(FILE))).map(GatewaySettings::of);
        } catch (NoSuchFileException e) {
            return;
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "the gateway's settings cannot be read", e);
        }
        var token = there.map(GatewaySettings::token).map(AccessToken::new).orElse(null);
        if (token != null && !token.matches(shown) && !token.matches(given)) {
            throw new CayException(
                    ErrorKind.UNAUTHENTICATED,
                    "this sandbox has an MCP gateway, and only who knows its token can change it; run mcp-gateway as"
                            + " root, or give that token in GATEWAY_ACCESS_TOKEN");
        }
    }

    private byte[] write(Path folder, GatewaySettings settings) {
        byte[] sealed = seal.close(settings.bytes());
        try {
            WholeFile.write(folder.resolve(FILE), sealed, PosixFilePermissions.fromString("rw-------"));
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "the gateway's settings cannot be kept", e);
        }
        return sealed;
    }

    /// The one a sandbox has, also if an earlier daemon began it, or if it came with a snapshot.
    public Optional<McpGateway> recall(SandboxId id, Path folder) {
        return replacing(id, () -> found(id, folder));
    }

    /// Changes which gateway a sandbox has, and ends the one that it does not have any more. What is on disk and what
    /// is known change together, so that nobody writes for a gateway that was replaced.
    private <T> T replacing(SandboxId id, Supplier<T> work) {
        Running before;
        Running after;
        T result;
        synchronized (this) {
            before = running.get(id);
            result = work.get();
            after = running.get(id);
        }
        if (before != null && (after == null || after.gateway != before.gateway)) {
            before.gateway.close();
        }
        return result;
    }

    private synchronized Optional<McpGateway> found(SandboxId id, Path folder) {
        byte[] sealed;
        try {
            sealed = Files.readAllBytes(folder.resolve(FILE));
        } catch (NoSuchFileException e) {
            running.remove(id);
            return Optional.empty();
        } catch (IOException e) {
            log.atWarn().setCause(e).addKeyValue("sandbox", id).log("the settings of an MCP gateway cannot be read");
            return Optional.empty();
        }
        var known = running.get(id);
        if (known != null && Arrays.equals(known.sealed, sealed)) {
            return Optional.of(known.gateway);
        }
        try {
            var settings = seal.open(sealed).map(GatewaySettings::of);
            if (settings.isEmpty()) {
                log.atWarn().addKeyValue("sandbox", id).log("the settings of an MCP gateway were sealed elsewhere");
                return Optional.empty();
            }
            return Optional.of(put(id, settings.get(), settings.get().plans(catalog, custom), sealed, folder));
        } catch (RuntimeException e) {
            // Written by another version, perhaps.
            log.atWarn()
                    .addKeyValue("sandbox", id)
                    .addKeyValue("reason", e.getMessage())
                    .log("an MCP gateway is gone");
            return Optional.empty();
        }
    }

    private synchronized McpGateway put(
            SandboxId id, GatewaySettings settings, List<GatewaySettings.Planned> plans, byte[] sealed, Path folder) {
        var gatewayLog = new GatewayLog(logs.of(id), clock);
        var choice = settings.metaTools();
        var gateway = new McpGateway(
                SystemPorts.MCP + "-" + id.value(),
                settings.token(),
                plans.stream().map(planned -> server(id, planned, gatewayLog)).toList(),
                gatewayLog,
                meters,
                new MetaTools(choice == null ? metaTools : choice, catalog, new Edits(id)),
                interceptors.of(id));
        running.put(id, new Running(gateway, settings, sealed, folder));
        gateway.start();
        return gateway;
    }

    /// One that cannot be started says so to whoever wants it, and keeps no other from working.
    private GatewayServer server(SandboxId id, GatewaySettings.Planned planned, GatewayLog gatewayLog) {
        var problem = planned.problem();
        var settings = catalog.find(planned.plan().key())
                .map(catalog::overrideOf)
                .map(ServerOverride::oauth)
                .orElse(null);
        return new GatewayServer(
                planned.plan(),
                () -> {
                    if (problem != null) {
                        throw new CayException(problem.kind(), problem.userMessage());
                    }
                    return new ChosenHome(planned.plan(), way -> homes.open(id, way), System::nanoTime);
                },
                gatewayLog,
                authorizations.of(id, planned.plan(), settings).orElse(null));
    }

    /// Writes what a gateway shall have from now on. One that was replaced meanwhile changes nothing: what lies there
    /// is its successor's, also if that is only about to be read.
    private synchronized void change(SandboxId id, McpGateway gateway, UnaryOperator<GatewaySettings> change) {
        var known = running.get(id);
        if (known == null || known.gateway != gateway || !isKept(known)) {
            throw new CayException(ErrorKind.CONFLICT, "this gateway was replaced by another; connect anew");
        }
        var settings = change.apply(known.settings);
        running.put(id, new Running(gateway, settings, write(known.folder, settings), known.folder));
    }

    private static boolean isKept(Running known) {
        try {
            return Arrays.equals(known.sealed, Files.readAllBytes(known.folder.resolve(FILE)));
        } catch (IOException e) {
            return false;
        }
    }

    /// What clients may change about the gateway of a sandbox.
    private final class Edits implements MetaTools.Editor {
        private final SandboxId id;

        Edits(SandboxId id) {
            this.id = id;
        }

        @Override
        public GatewayServer add(McpGateway gateway, String key, ObjectNode options) {
            var plan = new GatewaySettings.Planned(catalog.plan(key, options), null);
            var added = server(id, plan, gateway.log());
            synchronized (Gateways.this) {
                change(id, gateway, settings -> settings.with(key, options));
                // Before somebody can replace and close the gateway, who would not know of it.
                gateway.add(added);
            }
            return added;
        }

        @Override
        public void remove(McpGateway gateway, String key) {
            change(id, gateway, settings -> settings.without(key));
            gateway.find(key).ifPresent(gateway::remove);
            authorizations.retain(
                    id, gateway.servers().stream().map(GatewayServer::key).collect(Collectors.toSet()));
        }
    }

    /// Fetches what servers need to start, before anybody wants them: for each, what the first of its ways
    /// needs for which that can be had. Stops at the first server for which nothing can be had.
    ///
    /// @param id of the sandbox that asks: what a server from a repository needs is said in the settings of its
    ///           gateway
    public void pull(SandboxId id, List<String> keys) {
        for (String key : keys) {
            if (CustomServers.isOne(key)) {
                required(id, key).ways().forEach(plan -> installer.install(id, plan));
                continue;
            }
            var ways = catalog.ways(catalog.require(key));
            if (ways.isEmpty()) {
                // Says why not.
                var _ = catalog.plan(key, Json.mapper().createObjectNode());
            }
            pull(id, key, ways);
        }
    }

    private GatewayServer required(SandboxId id, String key) {
        return find(id).flatMap(gateway -> gateway.find(key))
                .orElseThrow(() -> new CayException(
                        ErrorKind.NOT_FOUND,
                        "%s is no server of this sandbox's gateway; begin one that has it, with its installCmd"
                                .formatted(Texts.brief(key))));
    }

    private void pull(SandboxId id, String key, List<ServerWay> ways) {
        var reasons = new ArrayList<String>();
        for (var way : ways) {
            var plan = LaunchPlan.toFetch(key, way.launch());
            try {
                plan.ifPresent(fetched -> installer.install(id, fetched));
                return;
            } catch (CayException e) {
                if (ways.size() == 1 || e.kind() == ErrorKind.CANCELED) {
                    throw e;
                }
                reasons.add("%s: %s".formatted(way.word(), e.userMessage()));
            }
        }
        throw new CayException(
                ErrorKind.UNAVAILABLE,
                "nothing can be fetched for mcp.%s: %s".formatted(key, String.join("; ", reasons)));
    }

    /// How far it is with these, in a line; empty if nothing is being fetched for them.
    public String progress(SandboxId id, List<String> keys) {
        return keys.stream()
                .flatMap(key -> fetched(id, key)
                        .map(installer::progress)
                        .filter(said -> !said.isEmpty())
                        .map(said -> "%s: %s".formatted(key, said)))
                .collect(Collectors.joining("; "));
    }

    private Stream<LaunchPlan> fetched(SandboxId id, String key) {
        if (CustomServers.isOne(key)) {
            return find(id).flatMap(gateway -> gateway.find(key)).stream().flatMap(server -> server.ways().stream());
        }
        return catalog.find(key).stream()
                .flatMap(server -> catalog.ways(server).stream())
                .flatMap(way -> LaunchPlan.toFetch(key, way.launch()).stream());
    }

    /// What runs in the sandbox ends, or the daemon does: its servers end, and start again when it is back and they are
    /// wanted.
    public void rest(SandboxId id) {
        find(id).ifPresent(McpGateway::rest);
    }

    /// The sandbox is put away with all that runs, and so are its servers: in the background, but for connections to
    /// servers elsewhere, which have ended when this returns.
    public void sleep(SandboxId id) {
        find(id).ifPresent(McpGateway::sleep);
    }

    /// The sandbox is back. Returns at once; who wants a server waits for it.
    public void wake(SandboxId id) {
        find(id).ifPresent(McpGateway::wake);
    }

    /// What the sandbox may reach has changed: connections to servers elsewhere end unless it may reach all,
    /// and are judged when they are made again. Returns when they did.
    public void setEgress(SandboxId id, Egress egress) {
        if (!egress.equals(Egress.open())) {
            find(id).ifPresent(McpGateway::cutRemote);
        }
    }

    synchronized Optional<McpGateway> find(SandboxId id) {
        return Optional.ofNullable(running.get(id)).map(Running::gateway);
    }

    /// The sandbox is gone, with all that was kept for it.
    public void end(SandboxId id) {
        leave(id);
        authorizations.end(id);
    }

    private void leave(SandboxId id) {
        var _ = replacing(id, () -> Optional.ofNullable(running.remove(id)));
    }

    @Override
    public void close() {
        List<SandboxId> all;
        synchronized (this) {
            all = List.copyOf(running.keySet());
        }
        all.forEach(this::leave);
    }
}
