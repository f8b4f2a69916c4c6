package dev.cay.node.sandbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.node.mcp.catalog.CatalogServer;
import dev.cay.testing.NeedsRoot;
import dev.cay.wire.CayException;
import dev.cay.wire.SandboxId;
import dev.cay.wire.SystemPorts;
import dev.cay.wire.node.Egress;
import dev.cay.wire.node.Keep;
import dev.cay.wire.node.NodeSandbox;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/// Who sees side sandboxes, how long they live, and what lies on the disk of them.
@NeedsRoot
class SideSandboxesTest extends ServerHomeTest {
    private static final String SECRET = "planted-0f3b9c71d2";
    private static final String WAIT = "setInterval(() => {}, 1000)";

    @Test
    void nobodySeesThem() throws Exception {
        try (var home = open(script(WAIT, Map.of()))) {
            home.connect(new Client());
            var side = sides().getFirst();

            assertThat(node.keepers.list().stream().map(NodeSandbox::id)).containsExactly(OWNER);
            assertThat(node.keepers.find(side)).isEmpty();
            assertThat(node.keepers.measureAll()).containsOnlyKeys(OWNER);
            assertThat(node.keepers.spares()).isZero();
            for (Runnable act : List.<Runnable>of(
                    () -> node.keepers.measure(side),
                    () -> node.keepers.pause(side, Keep.FILES),
                    () -> node.keepers.snapshot(side, "of-a-side", Keep.FILES),
                    () -> node.keepers.setEgress(side, Egress.open()))) {
                assertThatThrownBy(act::run)
                        .isInstanceOf(CayException.class)
                        .hasMessage("no sandbox %s on this node".formatted(side));
            }
            node.keepers.kill(side);
            for (int port : List.of(SystemPorts.ENVD, 8443, 3000)) {
                var answer = node.get(side.value(), port, "/health");
                var unknown = node.get("unknown", port, "/health");
                assertThat(answer.statusCode()).isEqualTo(unknown.statusCode());
                assertThat(answer.body()).isEqualTo(unknown.body().replace("unknown", side.value()));
            }
            assertThat(sides()).containsExactly(side);
        }
    }

    /// It may call sandboxes by their addresses, but has no envd of its own.
    @Test
    void theEdgeIsThereAndEnvdIsNot() throws Exception {
        String script = """
                const net = require('net');
                for (const port of [%d, %d]) {
                  const socket = net.connect(port, '127.0.0.1');
                  const tell = open => console.log(JSON.stringify({jsonrpc: '2.0', id: port, result: open}));
                  socket.on('connect', () => tell(true)).on('error', () => tell(false));
                }
                """.formatted(SystemPorts.ENVD, TestNode.EDGE_PORT);
        var client = new Client();
        try (var home = open(script(script, Map.of()))) {
            home.connect(client);
            for (int i = 0; i < 2; i++) {
                var answer = client.next();
                assertThat(answer.tree().path("result").asBoolean())
                        .isEqualTo(answer.id().asInt() == TestNode.EDGE_PORT);
            }
        }
    }

    /// A server must not be a way out for a sandbox that has none.
    @Test
    void reachNoMoreThanTheirOwner() throws Exception {
        node.keepers.setEgress(OWNER, Egress.closed());
        try (var home = open(script(WAIT, Map.of()))) {
            home.connect(new Client());
            assertThat(isOnline()).isFalse();
            node.keepers.setEgress(OWNER, Egress.open());
            assertThat(isOnline()).isTrue();
            node.keepers.setEgress(OWNER, Egress.closed());
            assertThat(isOnline()).isFalse();
        }
    }

    private boolean isOnline() {
        return SandboxNotes.read(place.records(), sides().getFirst())
                .orElseThrow()
                .spec()
                .egress()
                .internet();
    }

    @Test
    void noFileHoldsWhatAServerWasGiven() throws Exception {
        var client = new Client();
        String script =
                "console.error(process.env.TOKEN); console.log('{\"jsonrpc\":\"2.0\",\"method\":\"up\"}');" + WAIT;
        try (var home = open(script(script, Map.of("TOKEN", SECRET)))) {
            home.connect(client);
            client.next();
            assertThat(filesWith(SECRET)).isEmpty();

            var planted = Files.writeString(place.directory().resolve("run/planted"), "x" + SECRET);
            assertThat(filesWith(SECRET)).containsExactly(planted.toString());
        }
    }

    @Test
    void theyEndWithTheirOwner() throws Exception {
        var client = new Client();
        try (var home = open(script(WAIT, Map.of()))) {
            home.connect(client);
            node.keepers.tidy();
            assertThat(sides()).hasSize(1);
            node.keepers.kill(OWNER);
            node.keepers.tidy();
            assertThat(sides()).isEmpty();
            assertThat(client.reason()).contains("ended with its sandbox");
            assertThatThrownBy(() -> home.connect(new Client())).hasMessage("no sandbox owner on this node");
        }
    }

    @Test
    void theyEndWithTheDaemon() throws Exception {
        open(script(WAIT, Map.of())).connect(new Client());
        var side = sides().getFirst();
        int slot = slot(side);
        node.close();
        assertThat(node.runc.list()).containsExactly(OWNER);
        node = new TestNode(place);
        assertThat(node.traces(side.value(), slot)).isEmpty();
    }

    @Test
    void aLaterDaemonEndsThoseOfOneThatWasKilled() throws Exception {
        homes.close();
        node.close();
        killedDaemon(false);
        assertThat(sides()).as("left behind").hasSize(1);
        var side = sides().getFirst();
        int slot = slot(side);

        node = new TestNode(place);

        assertThat(node.keepers.list().stream().map(NodeSandbox::id)).containsExactly(OWNER);
        assertThat(node.traces(side.value(), slot)).isEmpty();
    }

    private int slot(SandboxId id) {
        return SandboxNotes.read(place.records(), id).orElseThrow().slot();
    }

    @Test
    void aHostWithoutRoomSaysSo() {
        var taken = new ArrayList<dev.cay.node.host.Slot>();
        try (var home = open(script(WAIT, Map.of()))) {
            for (int free = node.host.plan().capacity() - node.host.plan().taken(); free > 0; free--) {
                taken.add(node.host.plan().take());
            }
            assertThatThrownBy(() -> home.connect(new Client()))
                    .isInstanceOf(CayException.class)
                    .hasMessageContaining("no room for another sandbox");
        } finally {
            taken.forEach(node.host.plan()::release);
        }
    }

    @Test
    void noneIsStartedWhileTheNodeStops() throws Exception {
        node.keepers.endUnclaimed();
        var network = new CatalogServer.Network(false, List.of());
        var told = new CompletableFuture<String>();
        assertThatThrownBy(() -> node.keepers.sideSandboxes().open(OWNER, wanted(network), told::complete))
                .hasMessage("the node is stopping");
        assertThat(sides()).isEmpty();
    }
}
