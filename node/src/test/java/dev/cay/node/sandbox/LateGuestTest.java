package dev.cay.node.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.NeedsRoot;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.NodeSandbox;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// A daemon starts beside sandboxes whose guests have no processor time, here because they are frozen; needs root.
@Timeout(180)
@NeedsRoot
class LateGuestTest {
    private static final SandboxId LATE = new SandboxId("late");

    /// Longer than the node waits for one answer of a guest.
    private static final Duration TOO_LONG = Duration.ofSeconds(11);

    private TestNode.Place place;
    private TestNode node;

    @BeforeEach
    void open() throws Exception {
        place = TestNode.Place.make();
        node = new TestNode(place);
        node.keepers.create(TestNode.spec("quick"));
        node.keepers.create(TestNode.spec("late"));
        node.start("late", "echo kept > /tmp/kept; sleep 600; ");
        node.run("late", "until [ -s /tmp/kept ]; do sleep 0.01; done");
        node.close();
        node.runc.freeze(LATE);
        node = new TestNode(place);
    }

    @AfterEach
    void close() throws Exception {
        try (var _ = place;
                var _ = node) {
            node.runc.thaw(LATE);
        }
    }

    @Test
    void waitsForALateGuestOnlyWithRequestsForItsSandbox() throws Exception {
        assertThat(node.keepers.list().stream().map(NodeSandbox::id))
                .containsExactlyInAnyOrder(LATE, new SandboxId("quick"));
        assertThat(node.run("quick", "echo fine")).isEqualTo("fine");
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            Callable<String> question = () -> node.run("late", "cat /tmp/kept; pgrep -c sleep");
            var answer = threads.submit(question);
            Thread.sleep(TOO_LONG);
            assertThat(answer.isDone()).isFalse();

            node.runc.thaw(LATE);

            assertThat(answer.get(60, TimeUnit.SECONDS)).isEqualTo("kept\n1");
        }
    }

    @Test
    void goesBeforeSandboxesThatAnOlderDaemonLeft() throws Exception {
        Path weight = weight();
        Files.writeString(weight, weight.endsWith("cpu.weight") ? "100" : "1024");

        node.close();
        node = new TestNode(place);

        assertThat(Files.readString(weight).strip()).isEqualTo(weight.endsWith("cpu.weight") ? "13" : "128");
    }

    /// Of all sandboxes together, on new and on old hosts.
    private Path weight() {
        String group = place.plan().cgroup().substring(1);
        return Stream.of("/sys/fs/cgroup/%s/cpu.weight", "/sys/fs/cgroup/cpu/%s/cpu.shares")
                .map(name -> Path.of(name.formatted(group)))
                .filter(Files::exists)
                .findFirst()
                .orElseThrow();
    }

    @Test
    void endsASandboxBeforeItsGuestHasAnswered() throws Exception {
        node.keepers.kill(LATE);

        assertThat(node.traces("late", 1)).isEmpty();
        assertThat(node.keepers.list().stream().map(NodeSandbox::id)).containsExactly(new SandboxId("quick"));
    }

    @Test
    void leavesASandboxWhoseGuestHasNotAnsweredToTheNextDaemon() throws Exception {
        node.close();
        node.runc.thaw(LATE);

        node = new TestNode(place);

        assertThat(node.run("late", "cat /tmp/kept")).isEqualTo("kept");
    }
}
