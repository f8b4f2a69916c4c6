package dev.cay.node.sandbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.node.mcp.catalog.CatalogServer;
import dev.cay.node.mcp.side.SideSandbox;
import dev.cay.testing.Await;
import dev.cay.testing.NeedsRoot;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

/// What side sandboxes of one sandbox may use together, and who is told when that was not enough.
@NeedsRoot
class ServerLimitsTest extends ServerHomeTest {
    private static final CatalogServer.Network OFFLINE = new CatalogServer.Network(true, List.of());

    @Test
    void thereAreNoMoreThanTheOperatorAllows() throws Exception {
        var sides = new ArrayList<SideSandbox>();
        for (int i = 0; i < TestNode.SERVERS.most(); i++) {
            sides.add(openSide());
        }
        assertThatThrownBy(this::openSide)
                .isInstanceOfSatisfying(
                        CayException.class, e -> assertThat(e.kind()).isEqualTo(ErrorKind.EXHAUSTED))
                .hasMessageContaining("sandbox owner has 6 MCP servers")
                .hasMessageContaining("mcp.maxServers");
        assertThat(sides()).hasSize(TestNode.SERVERS.most());

        sides.removeLast().close();
        sides.add(openSide());
        sides.forEach(SideSandbox::close);
        assertThat(sides()).isEmpty();
    }

    @Test
    void whoWaitsForRoomGoesOnWhenOneHasEnded() throws Exception {
        var sides = node.keepers.sideSandboxes();
        var side = openSide();
        var waiting = Thread.ofPlatform().start(() -> sides.awaitEnd(OWNER, Duration.ofMinutes(2)));
        Await.until("the thread waits", () -> waiting.getState() == Thread.State.TIMED_WAITING);
        side.close();
        assertThat(waiting.join(Duration.ofMinutes(1))).isTrue();
        sides.awaitEnd(OWNER, Duration.ofMillis(1));
    }

    private SideSandbox openSide() {
        return node.keepers.sideSandboxes().open(OWNER, wanted(OFFLINE), _ -> {});
    }

    /// Each alone would have had enough.
    @Test
    void theyShareOneAmountOfMemory() throws Exception {
        var told = new CopyOnWriteArrayList<String>();
        node.keepers.onLog((_, entry) -> told.add(entry.toString()));
        String take = """
                const held = [];
                while (held.length < 300) held.push(Buffer.alloc(1 << 20, 1));
                console.log('{"jsonrpc":"2.0","method":"full"}');
                setInterval(() => {}, 1000);
                """;
        var first = new Client();
        var second = new Client();
        try (var one = open(script(take, Map.of()));
                var other = open(script(take, Map.of()))) {
            one.connect(first);
            first.next();
            other.connect(second);
            // The kernel chooses which of the two it kills; the other one may take its 300 MB then.
            assertThat(CompletableFuture.anyOf(first.over, second.over))
                    .as("two that took 300 MB of %d MB", TestNode.SERVERS.memoryMB())
                    .succeedsWithin(Duration.ofSeconds(30));
            node.keepers.measureAll();
            assertThat(told).anyMatch(line -> line.contains("processes of its MCP servers"));
            assertThat(node.run(OWNER.value(), "echo alive")).isEqualTo("alive");
        }
    }
}
