package dev.cay.node.sandbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.node.host.Programs;
import dev.cay.node.linux.HostThreads;
import dev.cay.node.linux.NetNamespace;
import dev.cay.node.process.DoomedProgram;
import dev.cay.node.runtime.Container;
import dev.cay.node.runtime.ContainerRuntime;
import dev.cay.node.runtime.ContainerSpec;
import dev.cay.testing.Await;
import dev.cay.testing.NeedsRoot;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import dev.cay.wire.SystemPorts;
import dev.cay.wire.TeamId;
import dev.cay.wire.node.NodeSandbox;
import dev.cay.wire.node.SandboxSpec;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/// Real runc, btrfs, nftables and guests; needs root.
@NeedsRoot
class KeepersTest extends NodeTest {
    private static final Executor THREADS = task -> Thread.ofVirtual().start(task);

    private void reopen(UnaryOperator<ContainerRuntime> around, int edgePort) throws IOException {
        node.close();
        node = new TestNode(place, around, edgePort);
    }

    private Container container(String id) {
        return node.runc.find(new SandboxId(id)).orElseThrow();
    }

    @Test
    void tellsASandboxWhoAndWhereItIs() throws Exception {
        node.keepers.create(TestNode.spec("me"));

        assertThat(node.run("me", "cat /proc/sys/kernel/hostname")).isEqualTo("me");
        assertThat(node.run("me", "cd /run/e2b; for f in .E2B_*; do echo $f $(<$f); stat -c %a:%u $f; done"))
                .isEqualTo(".E2B_SANDBOX true\n444:0\n.E2B_SANDBOX_ID me\n444:0\n"
                        + ".E2B_TEMPLATE_ID template-of-me\n444:0");
        assertThat(node.run(
                        "me",
                        "echo $FROM_CREATE $E2B_SANDBOX_ID $NODE_EXTRA_CA_CERTS; [ -s $SSL_CERT_FILE ] && echo full"))
                .isEqualTo("1 me /etc/ssl/cay/extra.pem\nfull");
        assertThat(node.run("me", "su user -c 'sudo id -u'"))
                .as("nothing but the id")
                .isEqualTo("0");
    }

    @Test
    void leavesNothingWhicheverStepOfAStartFails() throws Exception {
        fails(TestNode.spec("nolayer", "nonesuch"), "layer nonesuch is not on this node");

        node.host.pool().create(new SandboxId("nodisk"), 10);
        fails(TestNode.spec("nodisk"), "disk");

        Files.writeString(place.records().resolve("nonotes"), "in the way");
        fails(TestNode.spec("nonotes"), "could not start");

        reopen(
                runtime -> new RuntimeAround(runtime) {
                    @Override
                    public Container start(ContainerSpec spec) {
                        if (spec.id().value().equals("norunc")) {
                            throw new CayException(ErrorKind.UNAVAILABLE, "runc is not installed on this host");
                        }
                        var container = super.start(spec);
                        if (spec.id().value().equals("noguest")) {
                            kill(spec.id());
                        } else {
                            block(SandboxNotes.folder(place.records(), spec.id())
                                    .resolve("sandbox.json.new"));
                        }
                        return container;
                    }
                },
                TestNode.EDGE_PORT);
        fails(TestNode.spec("norunc"), "runc is not installed");
        fails(TestNode.spec("noguest"), "could not start");
        fails(TestNode.spec("noready"), "could not start");

        reopen(runtime -> runtime, SystemPorts.ENVD);
        fails(TestNode.spec("noport"), "could not start");
    }

    /// By a directory that is not empty: one that is would be removed.
    private static void block(Path file) {
        try {
            Files.createDirectories(file.resolve("taken"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void fails(SandboxSpec spec, String message) throws IOException {
        int slot = node.host.plan().take().index();
        node.host.plan().release(place.plan().claim(slot));
        assertThatThrownBy(() -> node.keepers.create(spec))
                .isInstanceOf(CayException.class)
                .hasMessageContaining(message);
        assertThat(node.traces(spec.id().value(), slot + 1)).isEmpty();
        assertThat(node.keepers.list()).isEmpty();
    }

    @Test
    void takesUpWhatAKilledDaemonLeftAndRemovesTheRest() throws Exception {
        node.close();
        killedDaemon();
        var orphans = node.host;
        orphans.pool().create(new SandboxId("disk"), 10);
        var lonely = new SandboxId("lonely");
        node.runc.start(new ContainerSpec(
                lonely,
                place.plan().claim(200),
                TestNode.spec("lonely").resources(),
                100,
                List.of(orphans.layers().require("base")),
                orphans.pool().create(lonely, 10),
                "lonely"));
        var start = Instant.now();
        new SandboxNotes(TestNode.spec("noted"), 201, start, true, false).write(place.records());
        new SandboxNotes(TestNode.spec("clash"), 0, start, true, false).write(place.records());
        new SandboxNotes(TestNode.spec("wild"), 1 << 20, start, true, false).write(place.records());
        Files.createDirectories(place.records().resolve("not-an-id"));
        String link = place.plan().claim(202).veth();
        Programs.ofHost()
                .require(TestNode.LIMIT, "ip", "link", "add", link, "type", "veth", "peer", "name", link + "x");

        node = new TestNode(place);

        assertThat(node.keepers.list().stream().map(NodeSandbox::id))
                .containsExactlyInAnyOrder(new SandboxId("first"), new SandboxId("second"));
        assertThat(node.run("first", "cat /run/e2b/.E2B_SANDBOX_ID")).isEqualTo("first");
        assertThat(node.run("first", "cat /data/file; echo more >> /data/file")).isEqualTo("kept");
        var volumes = node.node.disk().volumes();
        assertThat(volumes.list()).containsExactly(DoomedDaemon.VOLUME);
        assertThat(volumes.content(DoomedDaemon.VOLUME, new TeamId("team"))
                        .stat("/file")
                        .size())
                .isEqualTo(10);
        assertThatThrownBy(() -> volumes.delete(DoomedDaemon.VOLUME)).hasMessageContaining("mounted");
        assertThat(node.get("second", SystemPorts.ENVD, "/health").statusCode()).isEqualTo(204);
        assertThat(node.run("second", "exec 3<>/dev/tcp/127.0.0.1/49983 && echo inside too"))
                .isEqualTo("inside too");
        var listed = node.http.send(
                node.request("first", SystemPorts.ENVD, "/process.Process/List")
                        .header("Content-Type", "application/json")
                        .POST(HttpRequest.BodyPublishers.ofString("{}"))
                        .build(),
                HttpResponse.BodyHandlers.ofString());
        assertThat(listed.body()).contains("echo begun; sleep 600");
        assertThat(node.traces("half", 2)).isEmpty();
        assertThat(node.traces("disk", 203)).isEmpty();
        assertThat(node.traces("lonely", 200)).isEmpty();
        assertThat(node.traces("noted", 201)).isEmpty();
        assertThat(node.traces("clash", 204)).isEmpty();
        assertThat(node.traces("wild", 205)).isEmpty();
        assertThat(node.traces("veth", 202)).isEmpty();
    }

    private void killedDaemon() throws Exception {
        DoomedProgram.killWhenItSays(
                "half made", DoomedDaemon.class, place.directory().toString(), place.instance());
    }

    @Test
    void removesASandboxWhoseFirstProcessDied() throws Exception {
        var told = new CompletableFuture<String>();
        node.keepers.onEnd((id, reason) -> told.complete(id + ": " + reason));
        node.keepers.create(TestNode.spec("dies"));
        var open = node.start("dies", "while :; do sleep 0.01; done");

        ProcessHandle.of(container("dies").pid()).orElseThrow().destroyForcibly();

        assertThat(told.get(1, TimeUnit.MINUTES)).isEqualTo("dies: its first process ended");
        assertThat(node.traces("dies", 0)).isEmpty();
        assertThat(node.keepers.list()).isEmpty();
        assertThatThrownBy(() -> open.readAllBytes()).isInstanceOf(IOException.class);
        node.keepers.kill(new SandboxId("dies"));
    }

    @Test
    void killsASandboxThatIsJustStarting() throws Exception {
        var begun = new CountDownLatch(1);
        var goOn = new CountDownLatch(1);
        reopen(
                runtime -> new RuntimeAround(runtime) {
                    @Override
                    public Container start(ContainerSpec spec) {
                        var container = super.start(spec);
                        begun.countDown();
                        Await.until("the test lets the start go on", goOn);
                        return container;
                    }
                },
                TestNode.EDGE_PORT);
        var created = CompletableFuture.supplyAsync(() -> node.keepers.create(TestNode.spec("brief")), THREADS);
        assertThat(begun.await(1, TimeUnit.MINUTES)).isTrue();
        var id = new SandboxId("brief");
        assertThat(node.keepers.find(id)).isEmpty();
        var killed = CompletableFuture.runAsync(() -> node.keepers.kill(id), THREADS);
        var again = CompletableFuture.runAsync(() -> node.keepers.kill(id), THREADS);
        Await.until("the node notes that the kill was requested", () -> node.keepers.killAsked(id));
        goOn.countDown();

        killed.get(1, TimeUnit.MINUTES);
        again.get(1, TimeUnit.MINUTES);
        assertThatThrownBy(() -> created.get(1, TimeUnit.MINUTES))
                .isInstanceOf(ExecutionException.class)
                .hasMessageContaining("killed while it started");
        assertThat(node.traces("brief", 0)).isEmpty();
    }

    @Test
    void cutsTrafficWhenItEndsASandbox() throws Exception {
        node.keepers.create(TestNode.spec("busy"));
        var flood = node.start("busy", "while :; do echo 0123456789012345678901234567890123456789; done");
        for (int i = 0; i < 100; i++) {
            TestNode.event(flood);
        }

        node.keepers.kill(new SandboxId("busy"));
        node.keepers.kill(new SandboxId("busy"));

        assertThatThrownBy(() -> flood.readAllBytes()).isInstanceOf(IOException.class);
        assertThat(node.traces("busy", 0)).isEmpty();
        assertThat(node.get("busy", SystemPorts.ENVD, "/health").statusCode()).isEqualTo(502);
    }

    @Test
    void makesASandboxOnceHoweverOftenItIsAskedFor() throws Exception {
        var spec = TestNode.spec("once");
        var all = List.of(
                CompletableFuture.supplyAsync(() -> node.keepers.create(spec), THREADS),
                CompletableFuture.supplyAsync(() -> node.keepers.create(spec), THREADS),
                CompletableFuture.supplyAsync(() -> node.keepers.create(spec), THREADS));
        var first = all.getFirst().get(1, TimeUnit.MINUTES);
        for (var one : all) {
            assertThat(one.get(1, TimeUnit.MINUTES)).isEqualTo(first);
        }
        assertThat(node.keepers.list()).hasSize(1);
        assertThat(node.run("once", "echo fine")).isEqualTo("fine");
    }

    @Test
    void givesNothingToAnotherWhileAContainerResistsItsEnd() throws Exception {
        var resists = new AtomicBoolean(true);
        reopen(
                runtime -> new RuntimeAround(runtime) {
                    @Override
                    public void delete(SandboxId id) {
                        if (resists.get()) {
                            throw new CayException(ErrorKind.INTERNAL, "it resists");
                        }
                        super.delete(id);
                    }
                },
                TestNode.EDGE_PORT);
        node.keepers.create(TestNode.spec("tough"));
        var id = new SandboxId("tough");

        assertThatThrownBy(() -> node.keepers.kill(id)).hasMessageContaining("it resists");
        assertThat(Files.exists(SandboxNotes.folder(place.records(), id))).isTrue();
        assertThat(Files.exists(node.host.pool().layer(id))).isTrue();
        assertThatThrownBy(() -> node.host.plan().claim(0)).isInstanceOf(CayException.class);
        assertThat(node.get("tough", SystemPorts.ENVD, "/health").statusCode()).isEqualTo(502);

        resists.set(false);
        node.keepers.tidy();
        assertThat(node.keepers.find(id)).isEmpty();
        assertThat(node.traces("tough", 0)).isEmpty();
    }

    @Test
    void waitsAMomentForAServerThatIsStillStarting() throws Exception {
        node.keepers.create(TestNode.spec("slow"));
        long began = System.nanoTime();
        assertThat(node.get("slow", 8000, "/").statusCode()).isEqualTo(502);
        assertThat(Duration.ofNanos(System.nanoTime() - began)).isGreaterThanOrEqualTo(Duration.ofMillis(900));

        var answer = node.http.sendAsync(node.request("slow", 8000, "/").build(), HttpResponse.BodyHandlers.ofString());
        TimeUnit.MILLISECONDS.sleep(300); // Long enough for the first tries to fail.
        try (var threads = new HostThreads("late", 1, 10);
                var network = NetNamespace.open(container("slow").pid(), threads);
                var server = network.listen(8000)) {
            try (var connection = server.accept()) {
                connection.read(ByteBuffer.allocate(4096));
                connection.write(ByteBuffer.wrap(
                        "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlate".getBytes(StandardCharsets.US_ASCII)));
                assertThat(answer.get(1, TimeUnit.MINUTES).body()).isEqualTo("late");
            }
        }
    }
}
