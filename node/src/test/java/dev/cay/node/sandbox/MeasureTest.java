package dev.cay.node.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.node.runtime.Command;
import dev.cay.testing.Await;
import dev.cay.testing.NeedsRoot;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.LogLine;
import dev.cay.wire.node.ResourceUse;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// What real sandboxes use and do; needs root.
@Timeout(120)
@NeedsRoot
class MeasureTest {
    private static final SandboxId BUSY = new SandboxId("busy");
    private static final SandboxId IDLE = new SandboxId("idle");

    private TestNode.Place place;
    private TestNode node;
    private final List<LogLine> lines = new CopyOnWriteArrayList<>();

    @BeforeEach
    void open() throws Exception {
        place = TestNode.Place.make();
        node = new TestNode(place);
        node.keepers.onLog((id, line) -> {
            if (id.equals(BUSY)) {
                lines.add(line);
            }
        });
        node.keepers.create(TestNode.spec("busy"));
    }

    @AfterEach
    void close() throws Exception {
        try (var _ = place) {
            node.close();
        }
    }

    @Test
    void readsTheUseOfAllSandboxesAtOnce() throws Exception {
        node.keepers.create(TestNode.spec("idle"));
        node.run(
                "busy",
                "head -c 30000000 /dev/urandom > /big; sync; i=0; while (( i < 300000 )); do (( i += 1 )); done");
        new Command(
                        "syncing",
                        TestNode.LIMIT,
                        "sync",
                        "-f",
                        node.host.pool().layer(BUSY).toString())
                .run();

        var all = node.keepers.measureAll();

        assertThat(all.keySet()).containsExactlyInAnyOrder(BUSY, IDLE);
        ResourceUse busy = Objects.requireNonNull(all.get(BUSY));
        ResourceUse idle = Objects.requireNonNull(all.get(IDLE));
        assertThat(busy.diskUsed()).isBetween(30_000_000L, 40_000_000L);
        assertThat(idle.diskUsed()).isLessThan(1_000_000);
        assertThat(busy.cpuPercent()).isGreaterThan(idle.cpuPercent()).isLessThanOrEqualTo(100);
        assertThat(busy.memoryUsed()).isBetween(100_000L, 256L << 20);
        assertThat(busy.memoryCache()).isGreaterThan(20_000_000);
        assertThat(node.keepers.measure(BUSY).diskUsed()).isEqualTo(busy.diskUsed());
    }

    @Test
    void seesWhatGoesOverTheLinkAndNothingOfItsPorts() throws Exception {
        node.keepers.measure(BUSY);
        Thread.sleep(300);
        String gateway =
                "$(printf '%d.%d.%d.%d' $(sed -nE 's/^\\S+\\s00000000\\s(..)(..)(..)(..).*/0x\\4 0x\\3 0x\\2 0x\\1/p' /proc/net/route))";
        node.run(
                "busy",
                "gateway=%s; for i in {1..100}; do head -c 1000 /dev/zero > /dev/udp/$gateway/9; done"
                        .formatted(gateway));

        var use = node.keepers.measure(BUSY);
        assertThat(use.networkOut()).isPositive();
        assertThat(use.networkIn()).isLessThan(use.networkOut());
    }

    @Test
    void tellsWhichCommandsRanAndHowTheyEnded() throws Exception {
        node.run("busy", "echo printed; exit 3");

        Await.until("two log lines of the process", () -> lines.size() == 2);
        assertThat(lines.getFirst().message()).isEqualTo("Process started");
        assertThat(lines.getFirst().fields())
                .containsEntry("user", "root")
                .containsEntry("cwd", "/tmp")
                .containsEntry("command", "/bin/bash -c exec 2>&1; echo printed; exit 3");
        assertThat(lines.getLast().message()).isEqualTo("Process ended");
        assertThat(lines.getLast().fields()).containsEntry("exit_code", "3").doesNotContainValue("printed");
    }

    @Test
    void tellsWhenASandboxRanOutOfMemory() throws Exception {
        node.run("busy", "a=x; while :; do a=$a$a; done & wait $!; echo $?");
        node.keepers.measureAll();
        assertThat(lines.stream().map(LogLine::message)).anyMatch(text -> text.startsWith("Out of memory"));

        node.keepers.measureAll();
        assertThat(lines.stream().filter(line -> line.level() == LogLine.Level.WARN))
                .hasSize(1);
    }
}
