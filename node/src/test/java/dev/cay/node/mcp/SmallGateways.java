package dev.cay.node.mcp;

import dev.cay.metrics.Meters;
import dev.cay.node.log.LogHub;
import dev.cay.node.mcp.catalog.Catalog;
import dev.cay.node.mcp.catalog.LaunchPlan;
import dev.cay.node.mcp.intercept.Interceptors;
import dev.cay.node.mcp.oauth.Authorizations;
import dev.cay.node.mcp.remote.RemoteHome;
import dev.cay.node.mcp.seal.Seal;
import dev.cay.node.mcp.server.ServerHome;
import dev.cay.node.mcp.server.ServerInstaller;
import dev.cay.web.Addresses;
import dev.cay.web.Dialer;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.Ceiling;
import dev.cay.wire.node.Egress;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Gateways whose servers are called over HTTP, on this host: all of them but the sandbox.
final class SmallGateways implements AutoCloseable {
    static final SandboxId ID = new SandboxId("small");
    static final String CALLBACK = "http://127.0.0.1:3000";

    final Catalog catalog;
    final Gateways gateways;
    final ServerFetches fetches;
    final Meters meters = new Meters();
    final List<String> log = new CopyOnWriteArrayList<>();

    /// Whether the sandbox may reach the internet.
    final AtomicBoolean online = new AtomicBoolean(true);

    /// Homes of servers that are not called over HTTP, by their keys, or by one of their ways.
    final Map<String, ServerHome> others = new ConcurrentHashMap<>();

    /// Fetches what a server needs to start.
    volatile Consumer<LaunchPlan> fetch = _ -> {};

    /// What the sandbox may reach while it may reach the internet.
    volatile Egress rules = Egress.open();

    /// What the time is, for what expires.
    final AtomicReference<Duration> later = new AtomicReference<>(Duration.ZERO);

    final Path folder;
    final Authorizations authorizations;
    private final Interceptors interceptors;
    private final Dialer dialer;

    /// @param servers what stands in a file of section `servers`
    /// @param config  what stands in the configuration
    SmallGateways(Path directory, MetaChoice choice, String servers, String config) throws IOException {
        this(directory, choice, servers, config, new Dialer(Addresses.allowing(List.of("127.0.0.1")), Map.of()));
    }

    SmallGateways(Path directory, MetaChoice choice, String servers, String config, Dialer dialer) throws IOException {
        this.dialer = dialer;
        folder = Files.createDirectories(directory.resolve("known"));
        var file = Files.writeString(directory.resolve("cay.yaml"), config);
        catalog = Catalog.load(List.of(Files.writeString(directory.resolve("servers.yaml"), servers)), file);
        interceptors = new Interceptors(catalog.interceptions(file));
        var logs = new LogHub(InstantSource.system());
        logs.listen((_, line) -> log.add(line.toString()));
        var places = new Authorizations.Places(
                CALLBACK, id -> directory.resolve(id.value() + ".tokens"), directory.resolve("mcp.clients"));
        var seal = Seal.with(directory.resolve("mcp.key"));
        authorizations = new Authorizations(
                dialer,
                places,
                seal,
                new Authorizations.Bounds(_ -> online.get() ? rules : Egress.closed(), Ceiling.NONE),
                () -> Instant.now().plus(later.get()));
        var factory = new GatewayFactory(
                catalog,
                new GatewayRules("https://git.invalid/", choice, CALLBACK),
                interceptors,
                (owner, plan) -> Objects.requireNonNullElseGet(
                        others.getOrDefault(plan.key(), others.get(plan.way())), () -> home(owner, plan)),
                authorizations,
                logs,
                InstantSource.system(),
                meters);
        gateways = new Gateways(factory, authorizations, seal);
        fetches = new ServerFetches(catalog, new Fetching(), gateways);
    }

    private ServerHome home(SandboxId owner, LaunchPlan plan) {
        if (plan.start() instanceof LaunchPlan.Remote remote) {
            return new RemoteHome(
                    plan.key(),
                    remote,
                    dialer,
                    authorizations.credentials(owner, plan.key(), remote.url()),
                    online::get);
        }
        throw new CayException(
                ErrorKind.NOT_IMPLEMENTED,
                "%ss are not started here".formatted(plan.start().word()));
    }

    /// An entry that is reached at an address.
    static String entry(String key, String url) {
        return "  %s: {title: The %s, category: tests, launch: {remote: {url: '%s'}}}%n".formatted(key, key, url);
    }

    McpGateway start(String config, @Nullable String metaTools) {
        return start(config, "token", metaTools, "token");
    }

    /// @param token what the gateway shall have
    /// @param shown the token of the gateway that is there, as the caller knows it
    McpGateway start(String config, String token, @Nullable String metaTools, @Nullable String shown) {
        var wanted = new GatewayControl.Wanted(config.getBytes(StandardCharsets.UTF_8), token, metaTools, shown);
        return gateways.start(ID, folder, wanted);
    }

    /// As after a restart of the daemon, if this is the first that is asked.
    McpGateway recall() {
        return gateways.recall(ID, folder).orElseThrow();
    }

    @Override
    public void close() {
        gateways.close();
        authorizations.close();
        interceptors.close();
        dialer.close();
    }

    /// Has nothing to tell while it fetches.
    private final class Fetching implements ServerInstaller {
        @Override
        public void install(SandboxId owner, LaunchPlan plan) {
            fetch.accept(plan);
        }

        @Override
        public String progress(LaunchPlan plan) {
            return "";
        }
    }
}
