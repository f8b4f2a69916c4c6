package dev.cay.node;

import dev.cay.http.Exchange;
import dev.cay.http.Handler;
import dev.cay.http.HttpListeners;
import dev.cay.life.Progress;
import dev.cay.life.Undo;
import dev.cay.metrics.Meters;
import dev.cay.node.build.Builds;
import dev.cay.node.egress.EgressPath;
import dev.cay.node.fuse.FuseMounter;
import dev.cay.node.host.HostCapacity;
import dev.cay.node.host.HostLedger;
import dev.cay.node.host.HostPlan;
import dev.cay.node.host.HostRoutes;
import dev.cay.node.host.Programs;
import dev.cay.node.host.Sysctls;
import dev.cay.node.image.BuildProgress;
import dev.cay.node.image.FileLayers;
import dev.cay.node.image.HouseTemplate;
import dev.cay.node.image.LayerStore;
import dev.cay.node.image.NodeLayer;
import dev.cay.node.image.NpmLayers;
import dev.cay.node.image.TemplateBuilds;
import dev.cay.node.image.oci.Images;
import dev.cay.node.image.oci.LayerLimits;
import dev.cay.node.linux.FdPoller;
import dev.cay.node.linux.HostThreads;
import dev.cay.node.log.LogHub;
import dev.cay.node.mcp.GatewayAuthorizations;
import dev.cay.node.mcp.Gateways;
import dev.cay.node.mcp.Seal;
import dev.cay.node.mcp.catalog.Catalog;
import dev.cay.node.mcp.catalog.LaunchPlan;
import dev.cay.node.mcp.intercept.Interceptors;
import dev.cay.node.mcp.oauth.Authorizations;
import dev.cay.node.mcp.remote.RemoteHome;
import dev.cay.node.mcp.remote.RoomLinks;
import dev.cay.node.mcp.repository.RepositoryInstalls;
import dev.cay.node.mcp.repository.RepositoryLayers;
import dev.cay.node.mcp.repository.RepositoryTokens;
import dev.cay.node.mcp.server.SandboxedHomes;
import dev.cay.node.mcp.server.ServerHome;
import dev.cay.node.mcp.server.ServerHomes;
import dev.cay.node.mcp.server.ServerImages;
import dev.cay.node.mcp.server.ServerInstaller;
import dev.cay.node.network.HostNames;
import dev.cay.node.network.NetworkPool;
import dev.cay.node.process.ProcessSettings;
import dev.cay.node.process.Workers;
import dev.cay.node.runtime.GuestProgram;
import dev.cay.node.runtime.RuncRuntime;
import dev.cay.node.sandbox.HostParts;
import dev.cay.node.sandbox.Keepers;
import dev.cay.node.sandbox.SavedParts;
import dev.cay.node.sandbox.TrafficParts;
import dev.cay.node.sandbox.WorkParts;
import dev.cay.node.snapshot.SealedImages;
import dev.cay.node.snapshot.Snapshots;
import dev.cay.node.snapshot.WarmSnapshots;
import dev.cay.node.storage.Pool;
import dev.cay.node.volume.Volumes;
import dev.cay.node.watch.WatchHub;
import dev.cay.proxy.ReverseProxy;
import dev.cay.tls.EgressAuthority;
import dev.cay.web.Addresses;
import dev.cay.web.Dialer;
import dev.cay.web.HostRoots;
import dev.cay.web.WebFiles;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxAddress;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.Ceiling;
import dev.cay.wire.node.Node;
import dev.cay.wire.node.NodeAuthorizations;
import dev.cay.wire.node.NodeBuilds;
import dev.cay.wire.node.NodeDisk;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import javax.net.ssl.SSLContext;

/// The node of one machine, put together. Made, started, used through {@link #node} and {@link #handle}, closed; what
/// it started runs on until {@link #removeAll}.
public final class CayNode implements AutoCloseable {
    /// What a node gets from the daemon it is in.
    ///
    /// @param edge      answers what comes to the edge's port inside a sandbox
    /// @param tls       shown there
    /// @param authority PEM file of the CA that signed it, trusted inside
    /// @param meters    where it counts
    public record Surroundings(HttpListeners listeners, Handler edge, SSLContext tls, Path authority, Meters meters) {}

    /// File of the key that seals credentials.
    private static final String KEY = "mcp.key";

    /// A step may use all that its sandbox may, so more would only make each slower.
    private static final int BUILDS_AT_ONCE = 2;

    /// What is taken back from the host when no sandbox is left.
    private final Undo onHost = new Undo();

    private final Undo closing = new Undo();
    private final Progress progress;
    private final Path records;
    private final HostPlan plan;
    private final Sysctls sysctls;
    private final GuestProgram guest;
    private final Pool pool;
    private final NetworkPool network;
    private final EgressPath egress;
    private final Ceiling ceiling;
    private final HouseTemplate base;
    private final TemplateBuilds templates;
    private final RuncRuntime runc;
    private final ReverseProxy proxy;
    private final FdPoller poller;
    private final Snapshots snapshots;
    private final ServerHomes homes;
    private final Authorizations authorizations;
    private final GatewayAuthorizations signIns;
    private final Keepers keepers;
    private final SandboxedHomes serverHomes;
    private final Dialer dialer;
    private final Builds builds;
    private final DiskCollector disk;
    private volatile List<String> baseLayers = List.of();

    /// Takes what it needs from the host. The instance must have joined the host's ledger. Nothing runs until
    /// {@link #start}.
    public CayNode(NodeSettings settings, Surroundings around, NodeVariant variant, Progress progress)
            throws IOException {
        this.records = settings.stateDir().resolve("sandboxes");
        this.progress = progress;
        this.ceiling = settings.ceiling();
        try {
            requirePassable("runDir", settings.runDir());
            requirePassable("stateDir", settings.stateDir());
            Keepers.requireKnown(records);
            this.plan = new HostPlan(settings.instance(), settings.uidBase(), settings.range());
            HostRoutes.ofHost().requireFree(plan.range());
            this.sysctls = raisedSysctls();
            this.guest = variant.guest(settings.stateDir().resolve("guest"));
            progress.mark("kernel settings, guest");
            this.pool = Pool.open(settings.stateDir(), settings.poolSizeMB(), guest);
            onHost.step(pool::unmount);
            progress.mark("pool");
            this.proxy = closing.add(new ReverseProxy(around.meters()));
            this.egress = closing.add(egressPath(settings, around));
            this.network = closing.add(
                    new NetworkPool(plan, settings.networkLimits(), settings.nameservers(), sysctls, egress));
            onHost.step(network::remove);
            var layers = new LayerStore(settings.cacheDir(), settings.stateDir());
            var house = house(layers, settings.stateDir());
            this.base = house.removeFirst();
            this.templates = closing.add(new TemplateBuilds(layers, house));
            this.runc = new RuncRuntime(
                    guest, settings.runDir(), plan.cgroup(), settings.networkLimits(), settings.servers());
            var nodeLayer = new NodeLayer(layers, plan.gateway(), around.authority(), settings.operatorCertificates());
            var host = new HostParts(
                    plan,
                    new HostCapacity(settings.stateDir()),
                    records,
                    settings.maxProcesses(),
                    pool,
                    layers,
                    nodeLayer,
                    network,
                    variant.runtime(runc),
                    new FuseMounter(settings.fuseTemplates(), guest),
                    InstantSource.system());
            this.poller = closing.add(new FdPoller());
            var work = work(settings);
            this.snapshots = closing.add(new Snapshots(
                    pool, layers, host.runtime(), work.files(), InstantSource.system(), settings.maxProcesses()));
            this.dialer = closing.add(new Dialer(Addresses.allowing(settings.remoteAddresses()), System.getenv()));
            this.homes = variant.serverHomes(this::openHome);
            var logs = new LogHub(InstantSource.system());
            this.authorizations = closing.add(authorizations(settings));
            var gateways = gateways(settings, logs, around.meters());
            this.signIns = new GatewayAuthorizations(gateways, authorizations);
            var warm = new WarmSnapshots(layers, nodeLayer, snapshots, guest.key());
            this.keepers = closing.add(variant.keepers(
                    host,
                    new SavedParts(
                            snapshots,
                            warm,
                            new SealedImages(pool, settings.runDir().resolve("images"), work.files())),
                    new TrafficParts(
                            around.listeners(),
                            proxy,
                            settings.edgePort(),
                            around.tls(),
                            around.edge(),
                            egress,
                            gateways,
                            logs,
                            around.meters()),
                    work,
                    new Keepers.Limits(settings.mostSpares(), settings.servers())));
            var images = closing.add(images(settings, layers));
            var serverImages = new ServerImages(images, layers, ServerImages.lockFile(settings.stateDir()));
            var repositories = repositories(settings, layers, work.processes());
            this.serverHomes = closing.add(serverHomes(settings, layers, serverImages, repositories, work.processes()));
            this.builds = closing.add(new Builds(
                    keepers.buildRooms(),
                    layers,
                    images,
                    webFiles(settings),
                    settings.cacheDir(),
                    settings.stateDir(),
                    BUILDS_AT_ONCE,
                    InstantSource.system()));
            this.disk = new DiskCollector(
                    layers,
                    new DiskContents(
                            keepers,
                            snapshots,
                            warm,
                            templates,
                            () -> baseLayers,
                            builds,
                            images,
                            serverImages,
                            repositories),
                    new NodeBackups(settings.stateDir(), layers, snapshots, pool, guest, plan.gateway()),
                    new Volumes(pool.volumes(), work.files(), keepers::mounts, (long) settings.volumeSizeMB() << 20),
                    InstantSource.system());
            watch(around.meters());
        } catch (IOException | RuntimeException e) {
            giveUp(e);
            throw e;
        }
    }

    /// Begins to work, and takes up the sandboxes that an earlier daemon left running.
    public void start() {
        try {
            network.start();
            egress.start();
            progress.mark("network");
            poller.start();
            proxy.start();
            keepers.start();
            builds.start();
            guest.removeOthers(guestsInUse());
            progress.mark("sandboxes found");
        } catch (RuntimeException e) {
            giveUp(e);
            throw e;
        }
    }

    private EgressPath egressPath(NodeSettings settings, Surroundings around) throws IOException {
        var gateway = InetAddress.ofLiteral(plan.gateway());
        var rules = new Dialer.Rules(
                Addresses.allowing(List.of()), Set.copyOf(settings.openAddresses()), true, "network.openAddresses");
        var parts = new EgressPath.Surroundings(
                around.listeners(),
                proxy,
                new EgressAuthority(settings.stateDir().resolve("egress"), InstantSource.system()),
                HostRoots::tls);
        return new EgressPath(
                new InetSocketAddress(gateway, HostPlan.EGRESS_PORT),
                rules,
                settings.ceiling(),
                new HostNames(settings.nameservers(), gateway)::find,
                parts,
                InstantSource.system());
    }

    private Sysctls raisedSysctls() throws IOException {
        var sysctls = new Sysctls(HostLedger.ofHost());
        onHost.step(() -> sysctls.leave(plan.instance()));
        var raised = sysctls.apply();
        if (!raised.isEmpty()) {
            progress.detail("raised until the last Cay of this host is down: "
                    + raised.stream()
                            .map(change -> "%s %s (was %s)".formatted(change.name(), change.after(), change.before()))
                            .collect(Collectors.joining(", ")));
        }
        return sysctls;
    }

    private WorkParts work(NodeSettings settings) throws IOException {
        return new WorkParts(
                closing.add(new HostThreads("namespace", 2, 1024)),
                closing.add(new HostThreads("file", 16, 4096)),
                closing.add(new WatchHub(poller)),
                new Workers(
                        poller,
                        closing.add(new HostThreads("log", 4, 16_384)),
                        closing.add(new HostThreads("guest", 4, 4096)),
                        closing.add(new HostThreads("terminal", 8, 4096))),
                logSettings(settings.processLogBytes()));
    }

    private Gateways gateways(NodeSettings settings, LogHub logs, Meters meters) throws IOException {
        var catalog = Catalog.load(settings.catalogs(), settings.serverOverrides());
        return closing.add(new Gateways(
                catalog,
                settings.gateways(),
                closing.add(new Interceptors(catalog.interceptions(settings.serverOverrides()))),
                homes,
                authorizations,
                installer(),
                settings.stateDir().resolve(KEY),
                logs,
                InstantSource.system(),
                meters));
    }

    private Authorizations authorizations(NodeSettings settings) throws IOException {
        var places = new Authorizations.Places(
                settings.gateways().url(),
                id -> records.resolve(id.value()).resolve("mcp.tokens"),
                settings.stateDir().resolve("mcp.clients"));
        return new Authorizations(
                dialer,
                places,
                Seal.with(settings.stateDir().resolve(KEY)),
                id -> keepers.serverRooms().egress(id).internet(),
                InstantSource.system());
    }

    /// The homes are made after the gateways.
    private ServerInstaller installer() {
        return new ServerInstaller() {
            @Override
            public void install(SandboxId owner, LaunchPlan plan) {
                serverHomes.install(owner, plan);
            }

            @Override
            public String progress(LaunchPlan plan) {
                return serverHomes.progress(plan);
            }
        };
    }

    private ServerHome openHome(SandboxId owner, LaunchPlan plan) {
        return plan.start() instanceof LaunchPlan.Remote remote
                ? new RemoteHome(
                        plan.key(),
                        remote,
                        dialer.within((host, address, port) ->
                                keepers.serverRooms().egress(owner).reaches(host, address, port, ceiling)),
                        authorizations.credentials(owner, plan.key(), remote.url()),
                        () -> keepers.serverRooms().egress(owner).internet())
                : serverHomes.open(owner, plan);
    }

    private RepositoryLayers repositories(NodeSettings settings, LayerStore layers, Workers workers)
            throws IOException {
        var rules = settings.gateways();
        return new RepositoryLayers(
                layers,
                keepers.serverRooms(),
                workers,
                new RepositoryTokens(rules.repositories(), rules.tokens()),
                RepositoryLayers.notes(settings.stateDir()),
                System::nanoTime);
    }

    /// Servers run on what base is made of.
    private SandboxedHomes serverHomes(
            NodeSettings settings,
            LayerStore layers,
            ServerImages images,
            RepositoryLayers repositories,
            Workers workers) {
        var packages =
                new NpmLayers(layers, Programs.ofHost(), settings.stateDir().resolve("logs"));
        return new SandboxedHomes(
                keepers.serverRooms(),
                new RoomLinks(),
                workers,
                packages,
                new FileLayers(layers),
                images,
                new RepositoryInstalls(repositories),
                () -> base.build((_, _, _) -> {}),
                SandboxedHomes.IDLE,
                System::nanoTime);
    }

    /// For files that Dockerfiles name by URLs: they lead to what sandboxes can reach, as steps of a build run there.
    private WebFiles webFiles(NodeSettings settings) {
        var rules = new Dialer.Rules(
                Addresses.allowing(List.of()), Set.copyOf(settings.openAddresses()), true, "network.openAddresses");
        return new WebFiles(closing.add(new Dialer(rules)));
    }

    private static Images images(NodeSettings settings, LayerStore layers) {
        var registries = settings.registries();
        return new Images(
                layers,
                settings.cacheDir(),
                registries,
                LayerLimits.DEFAULT,
                () -> Images.client(registries).sslContext(HostRoots.tls()).build());
    }

    /// The first of them is base.
    private static List<HouseTemplate> house(LayerStore layers, Path stateDir) {
        return HouseTemplate.names().stream()
                .map(name -> new HouseTemplate(name, layers, Programs.ofHost(), stateDir.resolve("logs")))
                .collect(Collectors.toCollection(ArrayList::new));
    }

    /// By what runs and by what was saved.
    private Set<String> guestsInUse() {
        var used = new HashSet<>(runc.guestsInUse());
        used.addAll(snapshots.guestsInUse());
        return used;
    }

    /// After a start that failed. Sandboxes of an earlier daemon need what it made, and find it when somebody
    /// has fixed the cause.
    private void giveUp(Exception cause) {
        closing.close();
        try {
            if (Keepers.noneNoted(records)) {
                onHost.close();
            }
        } catch (RuntimeException e) {
            cause.addSuppressed(e);
        }
    }

    /// What an operator watches of this machine.
    private void watch(Meters meters) {
        meters.gauge("cay_pool_size_bytes", "Size of the disk that sandboxes share", pool::size);
        meters.gauge("cay_pool_free_bytes", "Bytes of it that are free", pool::free);
        meters.gauge("cay_slots", "How many sandboxes this machine has room for", plan::capacity);
        meters.gauge("cay_slots_taken", "Slots that are taken", plan::taken);
        meters.gauge("cay_spare_sandboxes", "Sandboxes started in advance that wait to be given out", keepers::spares);
    }

    /// Sandboxes run as users of their own, which must be able to pass on their way to their bundles and the guest.
    private static void requirePassable(String key, Path directory) throws IOException {
        for (Path step = directory.toAbsolutePath(); step != null; step = step.getParent()) {
            if (!Files.getPosixFilePermissions(step).contains(PosixFilePermission.OTHERS_EXECUTE)) {
                throw new CayException(
                        ErrorKind.INVALID_ARGUMENT,
                        "%s is %s, but users of sandboxes cannot pass %s; run `chmod o+x %s` or set another %s"
                                .formatted(key, directory, step, step, key));
            }
        }
    }

    private static ProcessSettings logSettings(long bytes) {
        var defaults = ProcessSettings.DEFAULT;
        return new ProcessSettings(bytes, defaults.stall(), defaults.retention(), defaults.inputLimit());
    }

    public Node node() {
        return keepers;
    }

    /// Where MCP servers are made that run on this machine.
    public SandboxedHomes serverHomes() {
        return serverHomes;
    }

    /// Authorizations of MCP servers that run elsewhere.
    public NodeAuthorizations authorizations() {
        return signIns;
    }

    /// Templates besides base, which are made in the background.
    public TemplateBuilds templates() {
        return templates;
    }

    /// What builds templates that users define.
    public NodeBuilds builds() {
        return builds;
    }

    /// What removes things from the disk that nothing refers to.
    public NodeDisk disk() {
        return disk;
    }

    /// Size of the pool, which an operator can enlarge while the node runs.
    public long poolBytes() {
        return pool.size();
    }

    /// The data path into the sandboxes of this node.
    public void handle(SandboxAddress address, Exchange exchange) throws Exception {
        keepers.handle(address, exchange);
    }

    /// Builds the template `base` unless it is there.
    ///
    /// @return its layers, top first
    public List<String> baseLayers(Progress progress) {
        if (base.isBuilt()) {
            baseLayers = base.build((_, _, _) -> {});
            return baseLayers;
        }
        progress.step("making the base template (once per machine)");
        var began = System.nanoTime();
        baseLayers = base.build(BuildProgress.paced(progress));
        progress.done("base template made in "
                + Duration.ofNanos(System.nanoTime() - began).toSeconds() + " s");
        return baseLayers;
    }

    /// Ends every sandbox and takes all of this instance from the host.
    public void removeAll() {
        keepers.killAll();
        leaveHost();
    }

    /// Takes all of this instance from the host if no sandbox needs it any more.
    public void leaveHostIfEmpty() {
        if (keepers.endUnclaimed()) {
            leaveHost();
        }
    }

    private void leaveHost() {
        runc.clear();
        network.remove();
        pool.unmount();
        sysctls.leave(plan.instance());
    }

    /// Lets go of everything; sandboxes run on.
    @Override
    public void close() {
        closing.close();
    }
}
