package dev.cay.node;

import dev.cay.life.Progress;
import dev.cay.node.build.Builds;
import dev.cay.node.build.DashboardBuild;
import dev.cay.node.fuse.FuseMounter;
import dev.cay.node.host.HostCapacity;
import dev.cay.node.host.Programs;
import dev.cay.node.image.FileLayers;
import dev.cay.node.image.LayerStore;
import dev.cay.node.image.NodeLayer;
import dev.cay.node.image.NpmLayers;
import dev.cay.node.image.oci.Images;
import dev.cay.node.image.oci.LayerLimits;
import dev.cay.node.linux.FdPoller;
import dev.cay.node.linux.HostThreads;
import dev.cay.node.log.LogHub;
import dev.cay.node.mcp.remote.SidePortLinks;
import dev.cay.node.mcp.repository.RepositoryInstalls;
import dev.cay.node.mcp.repository.RepositoryLayers;
import dev.cay.node.mcp.repository.RepositoryTokens;
import dev.cay.node.mcp.server.SandboxedHomes;
import dev.cay.node.mcp.server.ServerImages;
import dev.cay.node.process.ProcessSettings;
import dev.cay.node.process.Workers;
import dev.cay.node.sandbox.FrozenSandboxes;
import dev.cay.node.sandbox.HostParts;
import dev.cay.node.sandbox.Keepers;
import dev.cay.node.sandbox.SavedParts;
import dev.cay.node.sandbox.TrafficParts;
import dev.cay.node.sandbox.WorkParts;
import dev.cay.node.snapshot.SealedImages;
import dev.cay.node.snapshot.SnapshotStore;
import dev.cay.node.snapshot.Snapshots;
import dev.cay.node.snapshot.WarmSnapshots;
import dev.cay.node.volume.Volumes;
import dev.cay.node.watch.WatchHub;
import dev.cay.web.Dialer;
import dev.cay.web.HostRoots;
import dev.cay.web.WebFiles;
import dev.cay.wire.node.NodeDisk;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.stream.Stream;

/// Puts a node together by plain `new`: the host, what is saved, traffic and MCP, keepers, builds, and the disk that
/// all of them fill.
public final class NodeAssembly {
    /// A step may use all that its sandbox may, so more would only make each slower.
    private static final int BUILDS_AT_ONCE = 2;

    /// How long a node that stops saves paused sandboxes that are only frozen.
    private static final Duration SAVES_AT_STOP = Duration.ofSeconds(30);

    private final NodeSettings settings;
    private final NodeSurroundings around;
    private final NodeVariant variant;
    private final NodeUndo undo;
    private final NodeHost host;
    private final LayerStore layers;
    private final HouseTemplates templates;
    private final InstantSource clock = InstantSource.system();

    private NodeAssembly(
            NodeSettings settings, NodeSurroundings around, NodeVariant variant, NodeUndo undo, Progress progress)
            throws IOException {
        this.settings = settings;
        this.around = around;
        this.variant = variant;
        this.undo = undo;
        this.host = new NodeHost(settings, around, variant, undo, progress);
        this.layers = new LayerStore(settings.host().cacheDir(), settings.host().stateDir());
        this.templates = undo.add(new HouseTemplates(layers, settings.host().logs()));
    }

    /// Takes what the node needs from the host. The instance must have joined the host's ledger. Nothing runs until
    /// {@link CayNode#start}.
    public static CayNode make(NodeSettings settings, NodeSurroundings around, NodeVariant variant, Progress progress)
            throws IOException {
        var undo = new NodeUndo(settings.host().records());
        try {
            return new NodeAssembly(settings, around, variant, undo, progress).node(progress);
        } catch (IOException | RuntimeException e) {
            undo.giveUp(e);
            throw e;
        }
    }

    private CayNode node(Progress progress) throws IOException {
        var sandboxes = hostParts();
        var poller = undo.add(new FdPoller());
        var work = work(poller);
        var saved = saved(sandboxes, work);
        var logs = new LogHub(clock);
        var servers = new McpServers(settings, variant, host.egress(), logs, around.meters(), undo);
        var keepers = undo.add(variant.keepers(
                sandboxes,
                saved,
                traffic(servers, logs),
                work,
                new Keepers.Limits(
                        settings.limits().mostSpares(), settings.limits().servers(), SAVES_AT_STOP)));
        var images = undo.add(images());
        var serverImages = new ServerImages(
                images, layers, ServerImages.lockFile(settings.host().stateDir()));
        var repositories = repositories(keepers, work.processes());
        servers.runIn(
                keepers.sideSandboxes(), undo.add(serverHomes(keepers, serverImages, repositories, work.processes())));
        var builds = undo.add(builds(keepers, images));
        var dashboard = undo.add(new DashboardBuild(
                layers,
                keepers.buildSandboxes(),
                templates::base,
                Programs.ofHost(),
                settings.host().logs()));
        var contents = new DiskContents(
                keepers,
                saved.store(),
                saved.warm(),
                templates.others(),
                () -> Stream.concat(templates.baseLayers().stream(), dashboard.layer().stream())
                        .toList(),
                builds,
                images,
                serverImages,
                repositories);
        host.watch(around.meters());
        around.meters()
                .gauge(
                        "cay_spare_sandboxes",
                        "Sandboxes started in advance that wait to be given out",
                        keepers::spares);
        return new CayNode(
                host,
                templates,
                poller,
                saved.store(),
                keepers,
                servers.authorizations(),
                builds,
                disk(contents, keepers, work),
                dashboard,
                undo,
                progress);
    }

    private HostParts hostParts() {
        var limits = settings.limits();
        return new HostParts(
                host.plan(),
                new HostCapacity(settings.host().stateDir()),
                settings.host().records(),
                limits.maxProcesses(),
                host.pool(),
                layers,
                new NodeLayer(
                        layers,
                        host.plan().gateway(),
                        around.authority(),
                        settings.network().operatorCertificates()),
                host.network(),
                variant.runtime(host.runc()),
                new FuseMounter(limits.fuseTemplates(), host.guest()),
                clock);
    }

    private WorkParts work(FdPoller poller) throws IOException {
        var defaults = ProcessSettings.DEFAULT;
        return new WorkParts(
                undo.add(new HostThreads("namespace", 2, 1024)),
                undo.add(new HostThreads("file", 16, 4096)),
                undo.add(new WatchHub(poller)),
                new Workers(
                        poller,
                        undo.add(new HostThreads("log", 4, 16_384)),
                        undo.add(new HostThreads("guest", 4, 4096)),
                        undo.add(new HostThreads("terminal", 8, 4096))),
                new ProcessSettings(
                        settings.limits().processLogBytes(),
                        defaults.stall(),
                        defaults.retention(),
                        defaults.inputLimit()));
    }

    private SavedParts saved(HostParts sandboxes, WorkParts work) {
        var store = new SnapshotStore(host.pool());
        var snapshots = undo.add(new Snapshots(
                store, host.pool(), layers, sandboxes.runtime(), work.files(), clock, sandboxes.maxProcesses()));
        var frozen = undo.add(new FrozenSandboxes(
                sandboxes.capacity(), (long) settings.limits().frozenMemoryMB() << 20));
        sandboxes.capacity().setRelief(frozen);
        return new SavedParts(
                store,
                snapshots,
                new WarmSnapshots(
                        layers, sandboxes.nodeLayer(), store, host.guest().key()),
                new SealedImages(host.pool(), settings.host().runDir().resolve("images"), work.files()),
                frozen);
    }

    private TrafficParts traffic(McpServers servers, LogHub logs) {
        return new TrafficParts(
                around.listeners(),
                host.proxy(),
                settings.network().edgePort(),
                around.tls(),
                around.edge(),
                host.egress(),
                servers.gateways(),
                servers.fetches(),
                logs,
                around.meters());
    }

    private Images images() {
        var registries = settings.registries();
        return new Images(
                layers,
                settings.host().cacheDir(),
                registries,
                LayerLimits.DEFAULT,
                () -> Images.client(registries).sslContext(HostRoots.tls()).build());
    }

    private RepositoryLayers repositories(Keepers keepers, Workers workers) throws IOException {
        var rules = settings.mcp().gateways();
        return new RepositoryLayers(
                layers,
                keepers.sideSandboxes(),
                workers,
                new RepositoryTokens(rules.repositories(), rules.tokens()),
                RepositoryLayers.notes(settings.host().stateDir()),
                System::nanoTime);
    }

    /// Servers run on what base is made of.
    private SandboxedHomes serverHomes(
            Keepers keepers, ServerImages images, RepositoryLayers repositories, Workers workers) {
        return new SandboxedHomes(
                keepers.sideSandboxes(),
                new SidePortLinks(),
                workers,
                new NpmLayers(layers, Programs.ofHost(), settings.host().logs()),
                new FileLayers(layers),
                images,
                new RepositoryInstalls(repositories),
                templates::base,
                SandboxedHomes.IDLE,
                System::nanoTime);
    }

    private Builds builds(Keepers keepers, Images images) throws IOException {
        // Files that Dockerfiles name by URLs lead to what sandboxes can reach, as steps of a build run there.
        var files = new WebFiles(
                undo.add(new Dialer(host.reachable())).within(settings.network().limits()::permits));
        return new Builds(
                keepers.buildSandboxes(),
                layers,
                images,
                files,
                settings.host().cacheDir(),
                settings.host().stateDir(),
                BUILDS_AT_ONCE,
                clock);
    }

    private NodeDisk disk(DiskContents contents, Keepers keepers, WorkParts work) {
        var pool = host.pool();
        return new DiskCollector(
                layers,
                contents,
                new NodeBackups(
                        settings.host().stateDir(),
                        layers,
                        contents.snapshots(),
                        pool,
                        host.guest(),
                        host.plan().gateway(),
                        keepers::saveFrozen),
                new Volumes(
                        pool.volumes(),
                        work.files(),
                        keepers::mounts,
                        (long) settings.limits().volumeSizeMB() << 20),
                clock);
    }
}
