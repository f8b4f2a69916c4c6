package dev.cay.node.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.node.host.Programs;
import dev.cay.node.process.DoomedProgram;
import dev.cay.testing.Await;
import dev.cay.testing.NeedsRoot;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.Egress;
import dev.cay.wire.node.Keep;
import dev.cay.wire.node.SandboxSpec;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Egress rules of real sandboxes through their life. Each refusal stands beside an address that is reached.
@Timeout(240)
@NeedsRoot
class EgressTest {
    private static final SandboxId ID = new SandboxId("ruled");

    private final Programs programs = Programs.ofHost();
    private TestNode.Place place;
    private OutsideNetwork outside;
    private TestNode node;

    @BeforeEach
    void open() throws Exception {
        place = TestNode.Place.make();
        outside = new OutsideNetwork(place);
        node = new TestNode(place);
    }

    @AfterEach
    void close() throws Exception {
        try (var _ = place;
                var _ = outside;
                var _ = node) {
            // Nothing to do but to close them, whichever there are.
        }
    }

    /// Only this address.
    private static Egress only(String address) {
        return new Egress(true, List.of(address), List.of("0.0.0.0/0"), Map.of(), null, false, false);
    }

    private static SandboxSpec spec(Egress egress) {
        return TestNode.spec(ID.value()).withEgress(egress);
    }

    private void assertReachesOnly(String address) throws Exception {
        String other = address.equals(outside.one) ? outside.two : outside.one;
        assertThat(node.run(ID.value(), OutsideNetwork.reach(address))).endsWith("open");
        assertThat(node.run(ID.value(), OutsideNetwork.reach(other))).endsWith("shut");
    }

    private void assertReachesAll() throws Exception {
        assertThat(node.run(ID.value(), OutsideNetwork.reach(outside.one))).endsWith("open");
        assertThat(node.run(ID.value(), OutsideNetwork.reach(outside.two))).endsWith("open");
    }

    private String tables() {
        return programs.require(TestNode.LIMIT, "nft", "list", "tables");
    }

    @Test
    void theyHoldFromTheStartAndChangeAtOnce() throws Exception {
        node.keepers.create(spec(only(outside.one)));
        assertReachesOnly(outside.one);
        node.keepers.setEgress(ID, only(outside.two));
        assertReachesOnly(outside.two);
        node.keepers.setEgress(ID, Egress.closed());
        assertThat(node.run(ID.value(), OutsideNetwork.reach(outside.two))).endsWith("shut");
        node.keepers.setEgress(ID, Egress.open());
        assertReachesAll();
        assertThat(tables()).doesNotContain(place.plan().firewallTable() + "_");
        node.keepers.setEgress(ID, only(outside.one));
        node.keepers.kill(ID);
        assertThat(tables()).doesNotContain(place.plan().firewallTable() + "_");
    }

    /// A process that a pause stopped goes on with the rules, from its first packet on.
    @Test
    void theyHoldAgainBeforeAPausedSandboxGoesOn() throws Exception {
        node.keepers.create(spec(only(outside.one)));
        node.start(
                        ID.value(),
                        "while :; do (exec 3<>/dev/tcp/%s/%d) 2>/dev/null && echo leak >> /tmp/leak; sleep 0.05; done"
                                .formatted(outside.two, OutsideNetwork.PORT))
                .close();
        for (var keep : List.of(Keep.MEMORY, Keep.FILES)) {
            node.keepers.pause(ID, keep);
            // What is kept until the disk has the snapshot may be thawed; the other way is the one to be seen.
            node.close();
            node = new TestNode(place);
            node.keepers.resume(ID, keep == Keep.MEMORY);
            assertReachesOnly(outside.one);
        }
        assertThat(node.run(ID.value(), "cat /tmp/leak 2>/dev/null || echo none"))
                .isEqualTo("none");
    }

    @Test
    void aSpareSandboxHasThemBeforeItIsGivenAway() throws Exception {
        var kind = spec(Egress.open()).kind();
        node.keepers.expect(kind);
        Await.until("a spare sandbox", () -> node.keepers.spares() > 0);
        var id = node.keepers.reserve(kind);
        int pid = node.runc.find(id).orElseThrow().pid();
        var given = new SandboxSpec(
                id,
                kind.templateId(),
                kind.layers(),
                kind.resources(),
                Map.of(),
                null,
                "root",
                "/tmp",
                only(outside.one),
                null);
        node.keepers.create(given);
        assertThat(node.runc.find(id).orElseThrow().pid()).isEqualTo(pid);
        assertThat(node.run(id.value(), OutsideNetwork.reach(outside.one))).endsWith("open");
        assertThat(node.run(id.value(), OutsideNetwork.reach(outside.two))).endsWith("shut");
    }

    /// Tries all the time, from a process that no daemon needs, while one daemon is killed and the next takes
    /// over.
    @Test
    void theyHoldWithoutAGapWhenTheDaemonIsKilled() throws Exception {
        node.close();
        DoomedProgram.killWhenItSays(
                "ready", DoomedRules.class, place.directory().toString(), place.instance(), outside.one, outside.two);
        assertThat(tables()).contains(place.plan().firewallTable() + "_");
        node = new TestNode(place);
        assertReachesOnly(outside.one);
        node.keepers.tidy();
        assertReachesOnly(outside.one);
        assertThat(node.run(ID.value(), "cat /tmp/leak 2>/dev/null || echo none"))
                .isEqualTo("none");
        assertThat(node.run(ID.value(), "wc -l < /tmp/tried")).as("it did try").matches("[1-9]\\d*");
        node.keepers.setEgress(ID, Egress.open());
        Await.until(
                "a connection that the rules forbid",
                () -> node.run(ID.value(), "cat /tmp/leak 2>/dev/null || echo none")
                        .startsWith("leak"));
    }

    /// A sandbox that is made of it is told what it may reach; a password of a proxy stays with the sandbox
    /// itself.
    @Test
    void aSnapshotDoesNotHoldThem() throws Exception {
        node.keepers.create(spec(only(outside.one)));
        node.keepers.snapshot(ID, "kept", Keep.FILES);
        try (var files = Files.walk(node.host.pool().directory("snapshots"), 2)) {
            var notes = files.filter(file -> file.endsWith("about.json")).toList();
            assertThat(notes).isNotEmpty();
            for (Path about : notes) {
                assertThat(Files.readString(about)).contains(ID.value()).doesNotContain(outside.one);
            }
        }
    }
}
