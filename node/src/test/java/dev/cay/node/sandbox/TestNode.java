package dev.cay.node.sandbox;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.cay.http.Handler;
import dev.cay.http.HttpListeners;
import dev.cay.life.Progress;
import dev.cay.life.Undo;
import dev.cay.metrics.Meters;
import dev.cay.node.Abandoned;
import dev.cay.node.CayNode;
import dev.cay.node.NodeAssembly;
import dev.cay.node.NodeSettings;
import dev.cay.node.NodeSurroundings;
import dev.cay.node.NodeVariant;
import dev.cay.node.host.HostClaim;
import dev.cay.node.host.HostLedger;
import dev.cay.node.host.HostPlan;
import dev.cay.node.host.NetworkLimits;
import dev.cay.node.host.Programs;
import dev.cay.node.host.Reservation;
import dev.cay.node.host.ServerLimits;
import dev.cay.node.host.Sysctls;
import dev.cay.node.image.BuiltBase;
import dev.cay.node.image.oci.RegistrySettings;
import dev.cay.node.mcp.GatewayRules;
import dev.cay.node.mcp.MetaChoice;
import dev.cay.node.mcp.server.ServerHomes;
import dev.cay.node.process.ProcessSettings;
import dev.cay.node.runtime.ContainerRuntime;
import dev.cay.node.runtime.FillSettings;
import dev.cay.node.runtime.GuestProgram;
import dev.cay.node.runtime.RuncRuntime;
import dev.cay.tls.LocalAuthority;
import dev.cay.wire.CayException;
import dev.cay.wire.SandboxAddress;
import dev.cay.wire.SandboxId;
import dev.cay.wire.SystemPorts;
import dev.cay.wire.TemplateId;
import dev.cay.wire.node.Egress;
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
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// A node in a place of its own on this host. Closing it leaves its sandboxes running; closing the
/// place leaves nothing.
final class TestNode implements AutoCloseable {
    static final Duration LIMIT = Duration.ofSeconds(60);
    static final int EDGE_PORT = 8443;
    static final SandboxId WARMED = new SandboxId("warmed");
    /// How long a node that stops saves paused sandboxes.
    private static final Duration SAVES_AT_STOP = Duration.ofSeconds(5);

    static final ServerLimits SERVERS = new ServerLimits(512, 6);
    private static final int MOST_SPARES = 6;
    private static final Pattern STDOUT = Pattern.compile("\"stdout\":\"([^\"]*)\"");

    /// What a node leaves to its successor: directories and names.
    ///
    /// @param filling what the next node does with the memory of restored sandboxes
    record Place(Path directory, Reservation reservation, AtomicReference<FillSettings> filling)
            implements AutoCloseable {
        Place(Path directory, Reservation reservation) {
            // However little memory a sandbox has, as nearly all tests have little.
            this(directory, reservation, new AtomicReference<>(new FillSettings(true, 0, Duration.ZERO)));
        }

        static Place make() throws IOException {
            var directory = Files.createTempDirectory("cay-keepers-");
            Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx--x--x"));
            var layers = Files.createDirectories(directory.resolve("cache/layers"));
            Files.createSymbolicLink(layers.resolve("base"), BuiltBase.rootfs().resolveSibling(""));
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

        /// Whoever is left here is ended by a last node. Where that fails the reservation stays on record, and the next
        /// test run removes what is left.
        @Override
        public void close() throws IOException {
            try (var last = new TestNode(this)) {
                last.node.removeAll();
            }
            Programs.ofHost().require(LIMIT, "rm", "-rf", "--one-file-system", "--", directory.toString());
            HostLedger.ofHost().release(reservation);
        }
    }

    final Place place;
    final CayNode node;
    final Keepers keepers;
    final RuncRuntime runc;
    final HostParts host;
    final SavedParts saved;
    final TrafficParts traffic;
    final WorkParts work;
    final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    /// A way to the sandbox that is being warmed, which nobody else can reach; by the name {@link #WARMED}.
    volatile @Nullable OpenSandbox beingWarmed;

    /// What answers at the edge's port inside sandboxes.
    volatile Handler insideEdge = exchange -> exchange.send(204);

    /// Where servers of gateways are made.
    volatile ServerHomes serverHomes = (_, server) -> {
        throw new IllegalStateException("no servers here: " + server.key());
    };

    private final Undo closing = new Undo();
    private final URI edge;

    TestNode(Place place) throws IOException {
        this(place, runtime -> runtime, EDGE_PORT);
    }

    /// A node whose paused sandboxes stay in so much memory after they are saved.
    static TestNode freezing(Place place, UnaryOperator<ContainerRuntime> around, int frozenMemoryMB)
            throws IOException {
        return new TestNode(
                place,
                NetworkLimits.DEFAULT,
                around,
                EDGE_PORT,
                GuestProgram::install,
                _ -> {},
                RegistrySettings.DEFAULT,
                frozenMemoryMB);
    }

    TestNode(Place place, NetworkLimits limits) throws IOException {
        this(place, limits, runtime -> runtime, EDGE_PORT, GuestProgram::install);
    }

    TestNode(Place place, NetworkLimits limits, RegistrySettings registries) throws IOException {
        this(place, limits, runtime -> runtime, EDGE_PORT, GuestProgram::install, _ -> {}, registries);
    }

    TestNode(Place place, UnaryOperator<ContainerRuntime> around, int edgePort) throws IOException {
        this(place, NetworkLimits.DEFAULT, around, edgePort, GuestProgram::install, _ -> {}, RegistrySettings.DEFAULT);
    }

    TestNode(Place place, UnaryOperator<ContainerRuntime> around, SandboxKeeper.Warming warming) throws IOException {
        this(place, NetworkLimits.DEFAULT, around, EDGE_PORT, GuestProgram::install, warming, RegistrySettings.DEFAULT);
    }

    TestNode(
            Place place,
            NetworkLimits limits,
            UnaryOperator<ContainerRuntime> around,
            int edgePort,
            Function<Path, GuestProgram> install)
            throws IOException {
        this(place, limits, around, edgePort, install, _ -> {}, RegistrySettings.DEFAULT);
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
            SandboxKeeper.Warming warming,
            RegistrySettings registries)
            throws IOException {
        this(place, limits, around, edgePort, install, warming, registries, 0);
    }

    private TestNode(
            Place place,
            NetworkLimits limits,
            UnaryOperator<ContainerRuntime> around,
            int edgePort,
            Function<Path, GuestProgram> install,
            SandboxKeeper.Warming warming,
            RegistrySettings registries,
            int frozenMemoryMB)
            throws IOException {
        this.place = place;
        try {
            var state = passable(place.directory().resolve("state"));
            var run = passable(place.directory().resolve("run"));
            place.join();
            var authority = LocalAuthority.open(state.resolve("tls"), "cay.localhost");
            var listeners = closing.add(new HttpListeners());
            listeners.start();
            var variant = new Variant(around, install, warming);
            node = closing.add(NodeAssembly.make(
                    settings(state, run, limits, edgePort, registries, frozenMemoryMB),
                    new NodeSurroundings(
                            listeners,
                            exchange -> insideEdge.handle(exchange),
                            authority.tls(),
                            authority.caCertificate(),
                            new Meters()),
                    variant,
                    Progress.silent()));
            keepers = Objects.requireNonNull(variant.keepers);
            runc = Objects.requireNonNull(variant.runc);
            host = Objects.requireNonNull(variant.host);
            saved = Objects.requireNonNull(variant.saved);
            traffic = Objects.requireNonNull(variant.traffic);
            work = Objects.requireNonNull(variant.work);
            node.start();
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

    private NodeSettings settings(
            Path state, Path run, NetworkLimits limits, int edgePort, RegistrySettings registries, int frozenMemoryMB) {
        return new NodeSettings(
                new NodeSettings.Host(
                        place.instance(),
                        state,
                        run,
                        place.directory().resolve("cache"),
                        1024,
                        (int) place.reservation().claim().uidBase(),
                        place.range()),
                new NodeSettings.Limits(
                        1000,
                        MOST_SPARES,
                        ProcessSettings.DEFAULT.logBytes(),
                        256,
                        SERVERS,
                        Set.of(new TemplateId("template-of-fuse")),
                        frozenMemoryMB,
                        place.filling().get()),
                new NodeSettings.Network(
                        List.of("192.0.2.1"),
                        limits.connections(),
                        limits.megabits(),
                        limits.open(),
                        limits.ceiling(),
                        null,
                        edgePort,
                        "cay.localhost"),
                registries,
                new NodeSettings.Mcp(
                        List.of(),
                        null,
                        new GatewayRules("https://git.invalid/", MetaChoice.OFF, "http://127.0.0.1:3000"),
                        List.of()));
    }

    private static Path passable(Path directory) throws IOException {
        Files.createDirectories(directory);
        return Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx--x--x"));
    }

    /// Remembers the parts that the node is made of, for tests to look at.
    private final class Variant implements NodeVariant {
        private final UnaryOperator<ContainerRuntime> around;
        private final Function<Path, GuestProgram> install;
        private final SandboxKeeper.Warming warming;
        private @Nullable RuncRuntime runc;
        private @Nullable HostParts host;
        private @Nullable SavedParts saved;
        private @Nullable TrafficParts traffic;
        private @Nullable WorkParts work;
        private @Nullable Keepers keepers;

        Variant(
                UnaryOperator<ContainerRuntime> around,
                Function<Path, GuestProgram> install,
                SandboxKeeper.Warming warming) {
            this.around = around;
            this.install = install;
            this.warming = warming;
        }

        @Override
        public GuestProgram guest(Path directory) {
            return install.apply(directory);
        }

        @Override
        public ContainerRuntime runtime(RuncRuntime runc) {
            this.runc = runc;
            return around.apply(runc);
        }

        @Override
        public ServerHomes serverHomes(ServerHomes usual) {
            return (owner, server) -> serverHomes.open(owner, server);
        }

        @Override
        public Keepers keepers(
                HostParts host, SavedParts saved, TrafficParts traffic, WorkParts work, Keepers.Limits limits) {
            this.host = host;
            this.saved = saved;
            this.traffic = traffic;
            this.work = work;
            var soon = new Keepers.Limits(limits.mostSpares(), limits.servers(), SAVES_AT_STOP);
            keepers = new Keepers(host, saved, traffic, work, soon, warming);
            return keepers;
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
                Egress.open(),
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
        String message = "{\"process\":{\"cmd\":\"/bin/bash\",\"args\":[\"-c\",\"%s\"]},\"stdin\":false}"
                .formatted(script.replace("\\", "\\\\").replace("\"", "\\\""));
        var response = http.send(
                request(id, SystemPorts.ENVD, "/process.Process/Start")
                        .header("Content-Type", "application/connect+json")
                        .header("Connect-Timeout-Ms", Long.toString(limit.toMillis()))
                        .POST(HttpRequest.BodyPublishers.ofByteArray(envelope(message)))
                        .build(),
                HttpResponse.BodyHandlers.ofInputStream());
        return response.body();
    }

    /// A message of a stream, as Connect frames it.
    static byte[] envelope(String message) {
        byte[] bytes = message.getBytes(UTF_8);
        return ByteBuffer.allocate(5 + bytes.length)
                .put((byte) 0)
                .putInt(bytes.length)
                .put(bytes)
                .array();
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
                        host.pool().layer(id),
                        SandboxNotes.folder(place.records(), id),
                        place.directory().resolve("run/bundles").resolve(name),
                        place.directory().resolve("run/runc").resolve(name),
                        Path.of("/sys/class/net", place.plan().claim(slot).veth()))
                .filter(Files::exists)
                .forEach(path -> traces.add(path.toString()));
        cgroups(name).forEach(path -> traces.add(path.toString()));
        try {
            host.plan().release(host.plan().claim(slot));
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
                    .map(root -> root.resolve(host.plan().cgroup().substring(1)))
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
