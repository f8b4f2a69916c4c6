package dev.cay.node.sandbox;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.cay.http.HttpListeners;
import dev.cay.life.Undo;
import dev.cay.metrics.Meters;
import dev.cay.node.Abandoned;
import dev.cay.node.files.WatchHub;
import dev.cay.node.host.HostCapacity;
import dev.cay.node.host.HostClaim;
import dev.cay.node.host.HostLedger;
import dev.cay.node.host.HostPlan;
import dev.cay.node.host.NetworkLimits;
import dev.cay.node.host.Programs;
import dev.cay.node.host.Reservation;
import dev.cay.node.host.ServerLimits;
import dev.cay.node.host.Sysctls;
import dev.cay.node.image.BuiltBase;
import dev.cay.node.image.LayerStore;
import dev.cay.node.image.NodeLayer;
import dev.cay.node.linux.FdPoller;
import dev.cay.node.linux.HostThreads;
import dev.cay.node.log.LogHub;
import dev.cay.node.mcp.GatewayRules;
import dev.cay.node.mcp.Gateways;
import dev.cay.node.mcp.MetaChoice;
import dev.cay.node.mcp.catalog.Catalog;
import dev.cay.node.mcp.intercept.Interceptors;
import dev.cay.node.mcp.server.ServerHomes;
import dev.cay.node.network.NetworkPool;
import dev.cay.node.process.ProcessTable;
import dev.cay.node.process.Workers;
import dev.cay.node.runtime.ContainerRuntime;
import dev.cay.node.runtime.GuestProgram;
import dev.cay.node.runtime.RuncRuntime;
import dev.cay.node.snapshot.SealedImages;
import dev.cay.node.snapshot.Snapshots;
import dev.cay.node.snapshot.WarmSnapshots;
import dev.cay.node.storage.Pool;
import dev.cay.proxy.ReverseProxy;
import dev.cay.tls.LocalAuthority;
import dev.cay.wire.CayException;
import dev.cay.wire.SandboxAddress;
import dev.cay.wire.SandboxId;
import dev.cay.wire.SystemPorts;
import dev.cay.wire.TemplateId;
import dev.cay.wire.node.Resources;
import dev.cay.wire.node.SandboxSpec;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// A node in a place of its own on this host. Closing it leaves its sandboxes running; closing the
/// place leaves nothing.
final class TestNode implements AutoCloseable {
    static final Duration LIMIT = Duration.ofSeconds(30);
    static final int EDGE_PORT = 8443;
    static final SandboxId WARMED = new SandboxId("warmed");
    static final ServerLimits SERVERS = new ServerLimits(512, 6);
    private static final int MOST_SPARES = 6;
    private static final Pattern STDOUT = Pattern.compile("\"stdout\":\"([^\"]*)\"");

    /// What a node leaves to its successor: directories and names.
    record Place(Path directory, Reservation reservation) implements AutoCloseable {
        static Place make() throws IOException {
            var directory = Files.createTempDirectory("cay-keepers-");
            Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx--x--x"));
            var layer = Files.createDirectories(directory.resolve("cache/layers/base"));
            Files.createSymbolicLink(layer.resolve("rootfs"), BuiltBase.rootfs());
            Abandoned.remove(HostLedger.ofHost());
            return new Place(directory, HostLedger.ofHost().reserve(directory, 24));
        }

        /// The same place in another process.
        static Place reserved(Path directory, String instance) {
            return new Place(
                    directory, HostLedger.ofHost().reservation(instance).orElseThrow());
        }

        HostPlan plan() {
            return reservation.plan();
        }

        String instance() {
            return reservation.instance();
        }

        String range() {
            return reservation.claim().range();
        }

        Sysctls sysctls() {
            return new Sysctls(HostLedger.ofHost());
        }

        private void join() {
            var state = directory.resolve("state");
            HostLedger.ofHost().join(HostClaim.of(plan(), state, directory.resolve("run"), List.of(), 0, 0));
        }

        Path records() {
            return directory.resolve("state/sandboxes");
        }

        /// Whoever is left here is ended by a last node.
        @Override
        public void close() throws IOException {
            try (var undo = new Undo()) {
                undo.step(() -> HostLedger.ofHost().release(reservation));
                undo.step(() ->
                        Programs.ofHost().require(LIMIT, "rm", "-rf", "--one-file-system", "--", directory.toString()));
                var last = new TestNode(this);
                undo.step(() -> last.machine.pool().unmount());
                undo.step(() -> sysctls().leave(instance()));
                undo.step(() -> last.machine.network().remove());
                undo.step(last.runc::clear);
                undo.step(last::close);
                last.keepers.killAll();
            }
        }
    }

    final Place place;
    final Machine machine;
    final Keepers keepers;
    final RuncRuntime runc;
    final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    /// A way to the sandbox that is being warmed, which nobody else can reach; by the name {@link #WARMED}.
    volatile @Nullable OpenSandbox beingWarmed;

    /// Where servers of gateways are made.
    volatile ServerHomes serverHomes = (_, server) -> {
        throw new IllegalStateException("no servers here: " + server.key());
    };

    private final Undo closing = new Undo();
    private final URI edge;

    TestNode(Place place) throws IOException {
        this(place, runtime -> runtime, EDGE_PORT);
    }

    TestNode(Place place, NetworkLimits limits) throws IOException {
        this(place, limits, runtime -> runtime, EDGE_PORT, GuestProgram::install);
    }

    TestNode(Place place, UnaryOperator<ContainerRuntime> around, int edgePort) throws IOException {
        this(place, NetworkLimits.DEFAULT, around, edgePort, GuestProgram::install, _ -> {});
    }

    TestNode(Place place, UnaryOperator<ContainerRuntime> around, Prewarming.Warming warming) throws IOException {
        this(place, NetworkLimits.DEFAULT, around, EDGE_PORT, GuestProgram::install, warming);
    }

    TestNode(
            Place place,
            NetworkLimits limits,
            UnaryOperator<ContainerRuntime> around,
            int edgePort,
            Function<Path, GuestProgram> install)
            throws IOException {
        this(place, limits, around, edgePort, install, _ -> {});
    }

    /// @param around  what the keepers are given instead of the runtime
    /// @param install how the guest comes to the host
    /// @param warming what is done to a sandbox before it is saved for others of its kind to go on from
    private TestNode(
            Place place,
            NetworkLimits limits,
            UnaryOperator<ContainerRuntime> around,
            int edgePort,
            Function<Path, GuestProgram> install,
            Prewarming.Warming warming)
            throws IOException {
        this.place = place;
        try {
            var plan = place.plan();
            var state = Files.createDirectories(place.directory().resolve("state"));
            Files.setPosixFilePermissions(state, PosixFilePermissions.fromString("rwx--x--x"));
            place.join();
            var sysctls = place.sysctls();
            sysctls.apply();
            var guest = install.apply(state.resolve("guest"));
            var pool = Pool.open(state, 1024, guest);
            var network = closing.add(new NetworkPool(plan, limits, List.of("192.0.2.1"), sysctls));
            network.start();
            var layers = new LayerStore(place.directory().resolve("cache"));
            var authority = LocalAuthority.open(state.resolve("tls"), "cay.localhost");
            runc = new RuncRuntime(guest, place.directory().resolve("run"), plan.cgroup(), limits, SERVERS);
            var poller = closing.add(new FdPoller());
            poller.start();
            var proxy = closing.add(new ReverseProxy(new Meters()));
            proxy.start();
            var listeners = closing.add(new HttpListeners());
            listeners.start();
            var fileWork = closing.add(new HostThreads("file", 4, 1024));
            var runtime = around.apply(runc);
            var snapshots = closing.add(new Snapshots(pool, layers, runtime, fileWork, InstantSource.system(), 1000));
            var nodeLayer = new NodeLayer(layers, plan.gateway(), authority.caCertificate(), null);
            var logs = new LogHub(InstantSource.system());
            var gateways = closing.add(new Gateways(
                    Catalog.builtIn(),
                    new GatewayRules("https://git.invalid/", MetaChoice.OFF),
                    closing.add(new Interceptors(List.of())),
                    (owner, server) -> serverHomes.open(owner, server),
                    _ -> {},
                    state.resolve("mcp.key"),
                    logs,
                    InstantSource.system(),
                    new Meters()));
            machine = new Machine(
                    plan,
                    new HostCapacity(state),
                    place.records(),
                    1000,
                    MOST_SPARES,
                    SERVERS,
                    pool,
                    layers,
                    nodeLayer,
                    network,
                    runtime,
                    snapshots,
                    new WarmSnapshots(layers, nodeLayer, snapshots, guest.key()),
                    new SealedImages(pool, place.directory().resolve("run/images"), fileWork),
                    poller,
                    closing.add(new HostThreads("namespace", 2, 1024)),
                    fileWork,
                    closing.add(new WatchHub(poller)),
                    new Workers(
                            poller,
                            closing.add(new HostThreads("log", 2, 1024)),
                            closing.add(new HostThreads("guest", 2, 1024)),
                            closing.add(new HostThreads("terminal", 2, 1024))),
                    ProcessTable.Settings.DEFAULT,
                    listeners,
                    proxy,
                    edgePort,
                    authority.tls(),
                    exchange -> exchange.send(204),
                    InstantSource.system(),
                    logs,
                    gateways,
                    new Meters());
            keepers = closing.add(new Keepers(machine, warming));
            keepers.start();
            guest.removeOthers(runc.guestsInUse());
            edge = URI.create("http://127.0.0.1:"
                    + listeners
                            .listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), exchange -> {
                                var id = new SandboxId(String.valueOf(exchange.header("X-Sandbox")));
                                int port = Integer.parseInt(String.valueOf(exchange.header("X-Port")));
                                var warmed = beingWarmed;
                                if (warmed != null && id.equals(WARMED)) {
                                    warmed.serve(port, exchange);
                                    return;
                                }
                                keepers.handle(new SandboxAddress(id, port), exchange);
                            })
                            .getPort());
        } catch (IOException | RuntimeException e) {
            closing.close();
            throw e;
        }
    }

    static SandboxSpec spec(String id) {
        return spec(id, "base");
    }

    static SandboxSpec spec(String id, String layer) {
        return new SandboxSpec(
                new SandboxId(id),
                new TemplateId("template-of-" + id),
                List.of(layer),
                new Resources(1, 256, 200),
                Map.of("FROM_CREATE", "1"),
                null,
                "root",
                "/tmp",
                true,
                null);
    }

    HttpResponse<String> get(String id, int port, String path) throws IOException, InterruptedException {
        return http.send(request(id, port, path).build(), HttpResponse.BodyHandlers.ofString());
    }

    HttpRequest.Builder request(String id, int port, String path) {
        return HttpRequest.newBuilder(edge.resolve(path))
                .header("X-Sandbox", id)
                .header("X-Port", Integer.toString(port))
                .timeout(LIMIT);
    }

    /// A process's events, as they come.
    InputStream start(String id, String script) throws IOException, InterruptedException {
        return startFor(Duration.ofHours(1), id, script);
    }

    /// The same of one that is killed when its time is over.
    InputStream startFor(Duration limit, String id, String script) throws IOException, InterruptedException {
        byte[] message = ("{\"process\":{\"cmd\":\"/bin/bash\",\"args\":[\"-c\",\"%s\"]},\"stdin\":false}")
                .formatted(script.replace("\\", "\\\\").replace("\"", "\\\""))
                .getBytes(UTF_8);
        var framed = ByteBuffer.allocate(5 + message.length)
                .put((byte) 0)
                .putInt(message.length)
                .put(message);
        var response = http.send(
                request(id, SystemPorts.ENVD, "/process.Process/Start")
                        .header("Content-Type", "application/connect+json")
                        .header("Connect-Timeout-Ms", Long.toString(limit.toMillis()))
                        .POST(HttpRequest.BodyPublishers.ofByteArray(framed.array()))
                        .build(),
                HttpResponse.BodyHandlers.ofInputStream());
        return response.body();
    }

    /// One event of a process.
    static String event(InputStream events) throws IOException {
        var in = new DataInputStream(events);
        in.readByte();
        return new String(in.readNBytes(in.readInt()), UTF_8);
    }

    /// What a script prints, errors among it.
    String run(String id, String script) throws IOException, InterruptedException {
        var output = new ByteArrayOutputStream();
        try (var events = start(id, "exec 2>&1; " + script)) {
            for (String event = event(events); !event.contains("\"end\""); event = event(events)) {
                var matcher = STDOUT.matcher(event);
                if (matcher.find()) {
                    output.writeBytes(Base64.getDecoder().decode(matcher.group(1)));
                }
            }
        }
        return output.toString(UTF_8).strip();
    }

    /// Everything on the host that bears the sandbox's name or the slot's.
    List<String> traces(String name, int slot) throws IOException {
        var traces = new ArrayList<String>();
        var id = new SandboxId(name);
        Stream.of(
                        machine.pool().layer(id),
                        SandboxNotes.folder(place.records(), id),
                        place.directory().resolve("run/bundles").resolve(name),
                        place.directory().resolve("run/runc").resolve(name),
                        Path.of("/sys/class/net", place.plan().claim(slot).veth()))
                .filter(Files::exists)
                .forEach(path -> traces.add(path.toString()));
        cgroups(name).forEach(path -> traces.add(path.toString()));
        try {
            machine.plan().release(machine.plan().claim(slot));
        } catch (CayException e) {
            traces.add(String.valueOf(e.getMessage()));
        }
        return traces;
    }

    /// Every cgroup of this instance with that name, in whatever hierarchy and in whatever other group.
    List<Path> cgroups(String name) throws IOException {
        var found = new ArrayList<Path>();
        try (var hierarchies = Files.list(Path.of("/sys/fs/cgroup"))) {
            var parents = Stream.concat(Stream.of(Path.of("/sys/fs/cgroup")), hierarchies)
                    .map(root -> root.resolve(machine.plan().cgroup().substring(1)))
                    .filter(Files::isDirectory)
                    .toList();
            for (var parent : parents) {
                addGroups(parent, name, found);
            }
        }
        return found;
    }

    /// Groups may go while they are looked at.
    private static void addGroups(Path directory, String name, List<Path> found) throws IOException {
        try (var entries = Files.list(directory)) {
            for (Path group : entries.filter(Files::isDirectory).toList()) {
                if (group.endsWith(name)) {
                    found.add(group);
                }
                addGroups(group, name, found);
            }
        } catch (NoSuchFileException | UncheckedIOException _) {
            // It went.
        }
    }

    @Override
    public void close() {
        http.shutdownNow();
        closing.close();
    }
}
