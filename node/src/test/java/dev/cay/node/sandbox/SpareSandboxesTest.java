package dev.cay.node.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.node.runtime.ContainerSpec;
import dev.cay.testing.Await;
import dev.cay.testing.NeedsRoot;
import dev.cay.wire.SandboxId;
import dev.cay.wire.SystemPorts;
import dev.cay.wire.node.Egress;
import dev.cay.wire.node.NodeSandbox;
import dev.cay.wire.node.SandboxKind;
import dev.cay.wire.node.SandboxSpec;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// Sandboxes started in advance, for real; needs root.
@NeedsRoot
class SpareSandboxesTest extends NodeTest {
    private static final SandboxKind KIND = TestNode.spec("any").kind();

    private static SandboxSpec spec(SandboxId id) {
        return new SandboxSpec(
                id,
                KIND.templateId(),
                KIND.layers(),
                KIND.resources(),
                Map.of("MINE", "yes", "E2B_TEAM_ID", "team-of-mine"),
                null,
                "root",
                "/tmp",
                Egress.open(),
                null);
    }

    private SandboxId reserve() throws Exception {
        node.keepers.expect(KIND);
        Await.until("four spare sandboxes", () -> node.keepers.spares() == 4);
        return node.keepers.reserve(KIND);
    }

    @Test
    void isNobodysUntilItIsGivenAndThenAllThatWasAskedFor() throws Exception {
        var id = reserve();
        assertThat(node.keepers.list()).isEmpty();
        assertThat(node.keepers.find(id)).isEmpty();
        assertThat(node.get(id.value(), SystemPorts.ENVD, "/health").statusCode())
                .isEqualTo(502);
        int pid = node.runc.find(id).orElseThrow().pid();

        node.keepers.create(spec(id));

        assertThat(node.runc.find(id).orElseThrow().pid())
                .as("the one that ran already")
                .isEqualTo(pid);
        assertThat(node.keepers.list().stream().map(NodeSandbox::id)).containsExactly(id);
        assertThat(node.run(id.value(), "echo $MINE $PWD $(cat /proc/sys/kernel/hostname /run/e2b/.E2B_SANDBOX_ID)"))
                .isEqualTo("yes /tmp %s %s".formatted(id, id));
        assertThat(node.run(id.value(), "cd /run/e2b; echo $(<.E2B_TEAM_ID) $(stat -c %a:%u .E2B_TEAM_ID)"))
                .isEqualTo("team-of-mine 444:0");
        Await.until("four spare sandboxes", () -> node.keepers.spares() == 4);
    }

    @Test
    void goesOnAsTheOneItBecameAfterARestart() throws Exception {
        var id = reserve();
        node.keepers.create(spec(id));
        node.close();
        node = new TestNode(place);

        assertThat(node.keepers.list().stream().map(NodeSandbox::id)).containsExactly(id);
        assertThat(node.run(id.value(), "echo $MINE")).isEqualTo("yes");
    }

    @Test
    void anotherIsStartedInPlaceOfOneThatDied() throws Exception {
        var id = reserve();
        node.runc.kill(id);

        node.keepers.create(spec(id));

        assertThat(node.run(id.value(), "echo $MINE")).isEqualTo("yes");
    }

    @Test
    void noneIsLeftWhenTheNodeCloses() throws Exception {
        var id = reserve();
        node.close();

        assertThat(node.runc.list()).isEmpty();
        assertThat(SandboxNotes.list(place.records())).isEmpty();
        node = new TestNode(place);
        assertThat(node.keepers.find(id)).isEmpty();
    }

    @Test
    void thoseOfADaemonThatCrashedAreRemoved() throws Exception {
        var id = new SandboxId("left");
        var slot = place.plan().claim(200);
        node.runc.start(new ContainerSpec(
                id,
                slot,
                KIND.resources(),
                100,
                List.of(node.host.layers().require("base")),
                node.host.pool().create(id, 10),
                "left"));
        new SandboxNotes(spec(id), 200, Instant.now(), true, true).write(place.records());
        node.close();

        node = new TestNode(place);

        assertThat(node.keepers.list()).isEmpty();
        Await.until(
                "the resources of the sandbox are removed",
                () -> node.traces("left", 200).isEmpty());
    }
}
