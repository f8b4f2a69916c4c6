package dev.cay.node.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.mcp.protocol.Message;
import dev.cay.node.host.Programs;
import dev.cay.node.image.FileLayers;
import dev.cay.node.image.NpmLayers;
import dev.cay.node.image.oci.Images;
import dev.cay.node.image.oci.LayerLimits;
import dev.cay.node.image.oci.RegistrySettings;
import dev.cay.node.mcp.catalog.CatalogServer;
import dev.cay.node.mcp.catalog.LaunchPlan;
import dev.cay.node.mcp.remote.SidePortLinks;
import dev.cay.node.mcp.repository.RepositoryInstalls;
import dev.cay.node.mcp.repository.RepositoryLayers;
import dev.cay.node.mcp.repository.RepositoryTokens;
import dev.cay.node.mcp.server.SandboxedHomes;
import dev.cay.node.mcp.server.ServerHome;
import dev.cay.node.mcp.server.ServerImages;
import dev.cay.node.mcp.server.ServerLink;
import dev.cay.node.mcp.side.SideSandboxHost;
import dev.cay.node.process.DoomedProgram;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.SandboxSpec;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/// A test with servers for the sandbox `owner`.
abstract class ServerHomeTest extends NodeTest {
    static final SandboxId OWNER = new SandboxId("owner");
    static final Duration IDLE = Duration.ofMillis(300);

    /// The time as homes know it.
    final AtomicLong nanos = new AtomicLong();

    SandboxedHomes homes;

    /// A client of a server.
    static final class Client implements ServerLink.Listener {
        final BlockingQueue<Message> heard = new LinkedBlockingQueue<>();
        final CompletableFuture<String> over = new CompletableFuture<>();

        @Override
        public void heard(Message message) {
            heard.add(message);
        }

        @Override
        public void over(String reason) {
            assertThat(over.complete(reason)).as("told once").isTrue();
        }

        Message next() throws InterruptedException {
            var message = heard.poll(TestNode.LIMIT.toSeconds(), TimeUnit.SECONDS);
            assertThat(message).as("in time, and not over: %s", over).isNotNull();
            return message;
        }

        String reason() throws Exception {
            return over.get(TestNode.LIMIT.toSeconds(), TimeUnit.SECONDS);
        }
    }

    @BeforeEach
    final void makeHomes() throws Exception {
        node.keepers.create(spec(OWNER.value()));
        homes = homes(node, IDLE);
    }

    /// What sandboxes of the test are made of.
    SandboxSpec spec(String id) {
        return TestNode.spec(id);
    }

    SandboxedHomes homes(TestNode where, Duration idle) throws IOException {
        return new SandboxedHomes(
                where.keepers.sideSandboxes(),
                new SidePortLinks(),
                where.work.processes(),
                new NpmLayers(
                        where.host.layers(),
                        Programs.ofHost(),
                        place.directory().resolve("state/logs")),
                new FileLayers(where.host.layers()),
                new ServerImages(
                        images(where), where.host.layers(), place.directory().resolve("state/mcp-images.json")),
                new RepositoryInstalls(repositories(where)),
                () -> List.of("base"),
                idle,
                nanos::get);
    }

    private RepositoryLayers repositories(TestNode where) throws IOException {
        return new RepositoryLayers(
                where.host.layers(),
                where.keepers.sideSandboxes(),
                where.work.processes(),
                tokens(),
                RepositoryLayers.notes(place.directory().resolve("state")),
                nanos::get);
    }

    /// Tokens for private repositories: none, unless a test says so.
    RepositoryTokens tokens() throws IOException {
        return new RepositoryTokens("https://git.invalid/", List.of());
    }

    ServerImages servers(TestNode where) {
        return new ServerImages(
                images(where),
                where.host.layers(),
                ServerImages.lockFile(place.directory().resolve("state")));
    }

    /// Where images come from: nowhere, unless a test says so.
    Images images(TestNode where) {
        var settings = RegistrySettings.DEFAULT.withReach((_, _) -> false);
        return new Images(
                where.host.layers(),
                place.directory().resolve("cache"),
                settings,
                LayerLimits.DEFAULT,
                () -> Images.client(settings).build());
    }

    @AfterEach
    final void closeHomes() {
        if (homes != null) {
            homes.close();
        }
    }

    /// Containers that are not the owner's.
    List<SandboxId> sides() {
        return node.runc.list().stream().filter(id -> !id.equals(OWNER)).toList();
    }

    /// How many processes there are in side sandboxes besides their first ones.
    long processes() throws IOException {
        var first = sides().stream().flatMap(id -> node.runc.find(id).stream()).toList();
        var namespaces = new HashSet<Path>();
        for (var container : first) {
            namespaces.add(namespace(Integer.toString(container.pid())).orElseThrow());
        }
        try (var all = Files.newDirectoryStream(Path.of("/proc"), "[0-9]*")) {
            return StreamSupport.stream(all.spliterator(), false)
                            .flatMap(process -> namespace(process.getFileName().toString()).stream())
                            .filter(namespaces::contains)
                            .count()
                    - first.size();
        }
    }

    private static Optional<Path> namespace(String pid) {
        try {
            return Optional.of(Files.readSymbolicLink(Path.of("/proc", pid, "ns/pid")));
        } catch (IOException gone) {
            return Optional.empty();
        }
    }

    /// A path in the one side sandbox, as the host sees it.
    Path inside(String path) {
        int pid = node.runc.find(sides().getFirst()).orElseThrow().pid();
        return Path.of("/proc/%d/root%s".formatted(pid, path));
    }

    /// What is in the pool is seen where that is mounted.
    List<String> filesWith(String text) {
        var found = Programs.ofHost()
                .run(
                        TestNode.LIMIT,
                        "grep",
                        "-rlaF",
                        "--devices=skip",
                        "--exclude=pool.btrfs",
                        "--",
                        text,
                        place.directory().toString());
        return found.output().lines().filter(line -> !line.startsWith("grep:")).toList();
    }

    /// What a daemon leaves that is killed while it has a side sandbox.
    void killedDaemon(boolean asleep) throws Exception {
        DoomedProgram.killWhenItSays(
                "serving",
                DoomedServers.class,
                place.directory().toString(),
                place.instance(),
                Boolean.toString(asleep));
    }

    ServerHome open(LaunchPlan plan) {
        return homes.open(OWNER, plan);
    }

    /// What a side sandbox on the base template needs.
    static SideSandboxHost.Wanted wanted(CatalogServer.Network network) {
        return new SideSandboxHost.Wanted("testServer", List.of("base"), network, List.of());
    }

    static LaunchPlan npm(String name, String version, String bin, Map<String, String> environment) {
        return plan(new LaunchPlan.Npm(name, version, bin, List.of()), environment);
    }

    /// A server that is a script for Node.
    static LaunchPlan script(String script, Map<String, String> environment) {
        return plan(new LaunchPlan.Command(List.of("node", "-e", script)), environment);
    }

    static LaunchPlan plan(LaunchPlan.Start start, Map<String, String> environment) {
        return new LaunchPlan(
                "testServer",
                "test-server",
                start,
                environment,
                List.of(),
                null,
                new CatalogServer.Network(false, List.of()),
                false,
                false);
    }

    /// With `'` for `"`.
    static Message message(String json) {
        return Message.parse(json.replace('\'', '"').getBytes(StandardCharsets.UTF_8));
    }
}
