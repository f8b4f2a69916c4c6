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
/// The settings of a gateway are stored sealed with the notes of the sandbox's processes, so that they are saved,
/// copied and removed with them: a fork has the same servers, and so has a restarted daemon.
public final class Gateways implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Gateways.class);
    private static final String FILE = "mcp.sealed";

    /// @param folder the directory with its settings
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

    /// Starts a gateway, in place of an existing one if the caller shows its token. Refuses invalid settings with the
    /// reason; whether servers work shows when they start, in the background.
    ///
    /// @param folder of the sandbox's processes
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

    /// Refuses a caller without the token of the sandbox's gateway, whether that runs or could not be restored. A
    /// gateway without a token may be replaced by every user inside, and so may a missing one.
    ///
    /// @param folder of the sandbox's processes
    /// @param shown  null for none
    /// @param given  the same, from another header: one of the two must be right
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

    /// Replaces the gateway of a sandbox, and ends the previous one. File and memory change together, so that a
    /// replaced gateway writes nothing any more.
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
                log.atWarn()
                        .addKeyValue("sandbox", id)
                        .log("the settings of an MCP gateway were sealed with another key");
                return Optional.empty();
            }
            return Optional.of(put(id, settings.get(), settings.get().plans(catalog, custom), sealed, folder));
        } catch (RuntimeException e) {
            // Written by another version, perhaps.
            log.atWarn()
                    .addKeyValue("sandbox", id)
                    .addKeyValue("reason", e.getMessage())
                    .log("the settings of an MCP gateway cannot be used; the sandbox has no gateway");
            return Optional.empty();
        }
    }

    private synchronized McpGateway put(
            SandboxId id, GatewaySettings settings, List<GatewaySettings.Planned> plans, byte[] sealed, Path folder) {
        var gatewayLog = new GatewayLog(logs.of(id), clock);
        var choice = settings.metaTools();
        var servers = new GatewayServers(
                plans.stream().map(planned -> server(id, planned, gatewayLog)).toList(), gatewayLog);
        var own = new MetaToolList(choice == null ? metaTools : choice);
        var meta = new MetaTools(own, catalog, servers, new Edits(id, servers, gatewayLog));
        var gateway = new McpGateway(
                SystemPorts.MCP + "-" + id.value(),
                settings.token(),
                servers,
                gatewayLog,
                own,
                new ToolCalls(own, meta, interceptors.of(id), gatewayLog, meters));
        running.put(id, new Running(gateway, settings, sealed, folder));
        gateway.start();
        return gateway;
    }

    /// A server of the gateway. If it cannot be started, its users get the reason, and all others work.
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

    /// Writes new settings of a gateway. A gateway that was replaced meanwhile writes nothing.
    private synchronized void change(SandboxId id, GatewayServers servers, UnaryOperator<GatewaySettings> change) {
        var known = running.get(id);
        if (known == null || known.gateway.servers() != servers || !isKept(known)) {
            throw new CayException(ErrorKind.CONFLICT, "this gateway was replaced by another; connect again");
        }
        var settings = change.apply(known.settings);
        running.put(id, new Running(known.gateway, settings, write(known.folder, settings), known.folder));
    }

    private static boolean isKept(Running known) {
        try {
            return Arrays.equals(known.sealed, Files.readAllBytes(known.folder.resolve(FILE)));
        } catch (IOException e) {
            return false;
        }
    }

    /// Changes that clients make to the gateway of a sandbox.
    private final class Edits implements MetaTools.Editor {
        private final SandboxId id;
        private final GatewayServers servers;
        private final GatewayLog gatewayLog;

        Edits(SandboxId id, GatewayServers servers, GatewayLog gatewayLog) {
            this.id = id;
            this.servers = servers;
            this.gatewayLog = gatewayLog;
        }

        @Override
        public GatewayServer add(String key, ObjectNode options) {
            var plan = new GatewaySettings.Planned(catalog.plan(key, options), null);
            var added = server(id, plan, gatewayLog);
            synchronized (Gateways.this) {
                change(id, servers, settings -> settings.with(key, options));
                // Before another caller can replace and close the gateway without knowing this server.
                servers.add(added);
            }
            return added;
        }

        @Override
        public void remove(String key) {
            change(id, servers, settings -> settings.without(key));
            servers.find(key).ifPresent(servers::remove);
            authorizations.retain(
                    id, servers.all().stream().map(GatewayServer::key).collect(Collectors.toSet()));
        }
    }

    /// Fetches in advance what servers need to start: for each, what the first possible way needs. Stops at the first
    /// server for which that fails.
    ///
    /// @param id of the sandbox that asks: the settings of its gateway describe servers from repositories
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
        return find(id).flatMap(gateway -> gateway.servers().find(key))
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

    /// The progress of that, in a line; empty without a fetch.
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
            return find(id).flatMap(gateway -> gateway.servers().find(key)).stream()
                    .flatMap(server -> server.ways().stream());
        }
        return catalog.find(key).stream()
                .flatMap(server -> catalog.ways(server).stream())
                .flatMap(way -> LaunchPlan.toFetch(key, way.launch()).stream());
    }

    /// Ends all servers, because the sandbox or the daemon stops; they start again on demand.
    public void rest(SandboxId id) {
        find(id).ifPresent(McpGateway::rest);
    }

    /// Suspends the servers with their sandbox, in the background; connections to remote servers have ended when this
    /// returns.
    public void sleep(SandboxId id) {
        find(id).ifPresent(McpGateway::sleep);
    }

    /// Resumes the servers. Returns at once; callers wait for a server.
    public void wake(SandboxId id) {
        find(id).ifPresent(McpGateway::wake);
    }

    /// Applies changed egress rules: connections to remote servers end unless the sandbox may reach everything, and are
    /// judged when they are made again. Returns when they have ended.
    public void setEgress(SandboxId id, Egress egress) {
        if (!egress.equals(Egress.open())) {
            find(id).ifPresent(McpGateway::cutRemote);
        }
    }

    synchronized Optional<McpGateway> find(SandboxId id) {
        return Optional.ofNullable(running.get(id)).map(Running::gateway);
    }

    /// Removes everything of a sandbox that has ended.
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
