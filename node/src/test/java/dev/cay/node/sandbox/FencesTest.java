package dev.cay.node.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.node.host.NetworkLimits;
import dev.cay.node.host.Programs;
import dev.cay.testing.NeedsRoot;
import dev.cay.wire.SandboxId;
import dev.cay.wire.SystemPorts;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// What root in one sandbox may take of what all share. The long list, with neighbours, is
/// `cay prove overload`; here is what can be shown quickly, each with a control.
@Timeout(120)
@NeedsRoot
class FencesTest {
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final int MEGABITS = 8;

    private final Programs programs = Programs.ofHost();
    private TestNode.Place place;
    private TestNode node;

    @BeforeEach
    void open() throws Exception {
        place = TestNode.Place.make();
        node = new TestNode(place, new NetworkLimits(100, MEGABITS, List.of(SystemPorts.ENVD), List.of()));
        node.keepers.create(TestNode.spec("one"));
    }

    @AfterEach
    void close() throws Exception {
        try (var _ = place) {
            node.close();
        }
    }

    @Test
    void aCommandThatTheKernelKilledForMemorySaysSo() throws Exception {
        var hog = end("a=x; while :; do a=$a$a; done");
        assertThat(hog).contains("signal: killed (out of memory").contains("\"status\":\"signal: killed\"");
        var shell = end("bash -c 'a=x; while :; do a=$a$a; done'; exit $?");
        assertThat(shell).contains("exit status 137 (out of memory");
        // The control: killed, but not for that.
        assertThat(end("kill -9 $$")).contains("\"error\":\"signal: killed\"");
        assertThat(node.run("one", "echo alive")).isEqualTo("alive");
    }

    @Test
    void memoryThatIsNobodysLeavesRoomForCommands() throws Exception {
        node.run("one", "cat /dev/zero > /dev/shm/hog; cat /dev/zero > /run/hog");
        long pages = Long.parseLong(node.run("one", "cat /proc/sys/kernel/shmall"));
        assertThat(pages * 4096).isLessThanOrEqualTo(256L / 4 << 20);
        assertThat(node.run("one", "du -sm /dev/shm | cut -f1")).isEqualTo("128");
        assertThat(node.run("one", "echo alive")).isEqualTo("alive");
    }

    /// They are remembered in memory of the host, and in one table for all.
    @Test
    void onlySoManyConnectionsAreTracked() throws Exception {
        flood();
        assertThat(tracked()).isBetween(1, 100);
        inNetwork("nft", "delete", "chain", "ip", "cay", "opening");
        flood();
        assertThat(tracked()).as("control, without the limit").isGreaterThan(300);
    }

    @Test
    void whatStaysWithinTheSandboxIsNotTracked() throws Exception {
        String toItself = "for i in $(seq 200); do echo x > /dev/udp/127.0.0.1/$((2000 + i)); done";
        node.run("one", toItself);
        assertThat(tracked()).isZero();
        inNetwork("nft", "delete", "chain", "ip", "cay", "own_out");
        inNetwork("nft", "delete", "chain", "ip", "cay", "own_in");
        node.run("one", toItself);
        assertThat(tracked()).as("control, without the exception").isGreaterThan(100);
    }

    @Test
    void bandwidthIsLimitedBothWays() throws Exception {
        String veth = veth();
        assertThat(programs.require(LIMIT, "tc", "qdisc", "show", "dev", veth)).contains("tbf", "8Mbit");
        assertThat(inNetwork("tc", "qdisc", "show", "dev", "eth0")).contains("tbf", "8Mbit");
        double limited = megabitsOut(veth);
        assertThat(limited).isLessThan(MEGABITS * 2.0);
        inNetwork("tc", "qdisc", "del", "dev", "eth0", "root");
        assertThat(megabitsOut(veth)).as("control, without the limit").isGreaterThan(MEGABITS * 2.0);
    }

    @Test
    void theNodeKeepsOnlySoManyConnectionsFromInside() throws Exception {
        String connect = """
                n=0
                for i in $(seq 900); do
                  exec {fd}<>/dev/tcp/127.0.0.1/49983 || break
                  n=$((n + 1))
                done 2>/dev/null
                """;
        long before = descriptors();
        try (InputStream events = node.start("one", connect + "echo done; sleep 60")) {
            for (String event = TestNode.event(events); !event.contains("stdout"); ) {
                event = TestNode.event(events);
            }
            assertThat(descriptors() - before).isLessThan(400);
        }
        assertThat(node.get("one", SystemPorts.ENVD, "/health").statusCode()).isEqualTo(204);
    }

    /// They can be listed while they run and a while longer, so the node remembers them.
    @Test
    void argumentsOfAllCommandsTogetherAreLimited() throws Exception {
        int small = 0;
        while (small < 150 && end(": small").contains("\"end\"")) {
            small++;
        }
        assertThat(small).as("control, as many small ones").isEqualTo(150);
        String large = ": " + "x".repeat(120_000);
        String refusal = "";
        for (int i = 0; i < 150 && refusal.isEmpty(); i++) {
            String last = end(large);
            refusal = last.contains("\"end\"") ? "" : last;
        }
        assertThat(refusal).contains("resource_exhausted", "16 MB");
    }

    /// The last event of a script.
    private String end(String script) throws IOException, InterruptedException {
        try (var events = node.start("one", script)) {
            String event = TestNode.event(events);
            while (!event.contains("\"end\"") && !event.contains("\"error\"")) {
                event = TestNode.event(events);
            }
            return event;
        }
    }

    private void flood() throws IOException, InterruptedException {
        node.run("one", "for i in $(seq 600); do echo x > /dev/udp/198.51.100.1/$((2000 + i)); done");
    }

    private int tracked() {
        return Integer.parseInt(
                inNetwork("cat", "/proc/sys/net/netfilter/nf_conntrack_count").strip());
    }

    /// Sends for about two seconds as fast as it goes; counted where it leaves the sandbox, whatever becomes
    /// of it then.
    private double megabitsOut(String veth) throws IOException, InterruptedException {
        Path counter = Path.of("/sys/class/net", veth, "statistics/rx_bytes");
        long bytes = Long.parseLong(Files.readString(counter).strip());
        long begun = System.nanoTime();
        node.run(
                "one",
                "exec 3<>/dev/udp/198.51.100.1/9; end=$((SECONDS + 2));"
                        + " while [ $SECONDS -lt $end ]; do dd if=/dev/zero bs=30000 count=8 >&3; done 2>/dev/null; true");
        double seconds = (System.nanoTime() - begun) / 1e9;
        return (Long.parseLong(Files.readString(counter).strip()) - bytes) * 8 / 1e6 / seconds;
    }

    private String veth() throws IOException {
        try (var links = Files.list(Path.of("/sys/class/net"))) {
            return links.map(link -> link.getFileName().toString())
                    .filter(name -> name.startsWith(place.plan().interfacePrefix()))
                    .findFirst()
                    .orElseThrow();
        }
    }

    private String inNetwork(String... command) {
        int pid = node.runc.find(new SandboxId("one")).orElseThrow().pid();
        var words = new java.util.ArrayList<>(List.of("nsenter", "-t", Integer.toString(pid), "-n"));
        words.addAll(List.of(command));
        return programs.require(LIMIT, words.toArray(String[]::new));
    }

    private static long descriptors() throws IOException {
        try (var open = Files.list(Path.of("/proc/self/fd"))) {
            return open.count();
        }
    }
}
