package dev.cay.node.sandbox;

import static dev.cay.node.sandbox.HeardBuild.run;
import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.NeedsRoot;
import dev.cay.wire.SandboxId;
import dev.cay.wire.TeamId;
import dev.cay.wire.TemplateId;
import dev.cay.wire.node.Egress;
import dev.cay.wire.node.Keep;
import dev.cay.wire.node.NodeDisk;
import dev.cay.wire.node.SandboxKind;
import dev.cay.wire.node.SandboxSpec;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// What a node removes from its disk, beside real sandboxes and builds.
@NeedsRoot
@Timeout(180)
final class CollectionTest {
    private TestNode.Place place;
    private TestNode node;

    @BeforeEach
    void start() throws IOException {
        place = TestNode.Place.make();
        node = new TestNode(place);
        node.node.disk().keep(List.of());
    }

    @AfterEach
    void stop() throws IOException {
        try (var _ = place) {
            node.close();
        }
    }

    @Test
    void layersStayAsLongAsASandboxStandsOnThem() throws Exception {
        var running = build("echo running > /srv/file");
        var paused = build("echo paused > /srv/file");
        var unused = build("echo unused > /srv/file");
        create("irunning", running);
        create("ipaused", paused);
        node.keepers.pause(new SandboxId("ipaused"), Keep.FILES);

        assertThat(collected(List.of(), false)).containsAll(own(unused)).doesNotContainAnyElementsOf(own(running));
        assertThat(own(unused)).noneMatch(node.host.layers()::has);
        assertThat(node.run("irunning", "cat /srv/file; ls /usr/bin | wc -l")).startsWith("running");
        node.keepers.resume(new SandboxId("ipaused"), false);
        assertThat(node.run("ipaused", "cat /srv/file")).isEqualTo("paused");

        node.keepers.kill(new SandboxId("irunning"));
        node.keepers.kill(new SandboxId("ipaused"));
        var left = new ArrayList<>(own(running));
        left.addAll(own(paused));
        assertThat(collected(List.of(), false)).containsAll(left);
        assertThat(left).noneMatch(node.host.layers()::has);
    }

    @Test
    void layersStayAsLongAsASnapshotStandsOnThem() throws Exception {
        var layers = build("echo saved > /srv/file");
        create("isaved", layers);
        node.keepers.snapshot(new SandboxId("isaved"), "moment", Keep.FILES);
        node.keepers.kill(new SandboxId("isaved"));
        assertThat(collected(List.of(), false)).doesNotContainAnyElementsOf(layers);

        node.keepers.create(spec("iagain", layers, "moment"));
        assertThat(node.run("iagain", "cat /srv/file")).isEqualTo("saved");
        node.keepers.kill(new SandboxId("iagain"));
        node.keepers.deleteSnapshot("moment");
        assertThat(collected(List.of(), false)).containsAll(own(layers));
    }

    @Test
    void layersThatTheServerNamesStayAndOthersAreBuiltAgain() throws Exception {
        var named = build("echo named > /srv/file");
        var kind = new SandboxKind(new TemplateId("built"), named, HeardBuild.SIZE);
        assertThat(collected(List.of(kind), true)).doesNotContainAnyElementsOf(named);
        assertThat(collected(List.of(kind), false)).doesNotContainAnyElementsOf(named);
        assertThat(collected(List.of(), true)).containsAll(own(named));
        create("inamed", named);
        assertThat(node.run("inamed", "cat /srv/file")).isEqualTo("named");
        node.keepers.kill(new SandboxId("inamed"));

        assertThat(collected(List.of(), false)).containsAll(own(named));
        var again = HeardBuild.begin(node, run("echo named > /srv/file")).await();
        assertThat(again.require().layers()).isEqualTo(named);
        assertThat(again.lines()).noneMatch(line -> line.contains("CACHED"));
    }

    @Test
    void aBuildThatIsUnderWayKeepsItsLayers() throws Exception {
        var build = HeardBuild.begin(
                node, run("echo first > /srv/file"), run("echo begun; sleep 3; cat /srv/file > /srv/second"));
        build.awaitLine("begun");
        assertThat(collected(List.of(), false)).noneMatch(name -> name.startsWith("step-"));
        create("ibuilt", build.await().require().layers());
        assertThat(node.run("ibuilt", "cat /srv/second")).isEqualTo("first");
    }

    @Test
    void archivesThatNoBuildHasReadForLongAreRemoved() throws Exception {
        var team = new TeamId("team");
        for (String hash : List.of("a".repeat(64), "b".repeat(64))) {
            try (var archive = new ByteArrayInputStream(new byte[1024])) {
                node.node.builds().putFiles(team, hash, archive, 1024);
            }
        }
        var old = place.directory().resolve("state/uploads/team").resolve("a".repeat(64));
        Files.setLastModifiedTime(old, FileTime.from(Instant.now().minus(Duration.ofDays(1))));
        assertThat(collected(List.of(), false)).containsExactly("a".repeat(64));
        assertThat(node.node.builds().hasFiles(team, "b".repeat(64))).isTrue();
    }

    private List<String> build(String command) throws InterruptedException {
        return HeardBuild.begin(node, run(command)).await().require().layers();
    }

    /// Those that no other template has, of this Cay or of another one on this host.
    private static List<String> own(List<String> layers) {
        return layers.stream().filter(key -> key.startsWith("step-")).toList();
    }

    private void create(String id, List<String> layers) {
        node.keepers.create(spec(id, layers, null));
    }

    private static SandboxSpec spec(String id, List<String> layers, @Nullable String snapshot) {
        return new SandboxSpec(
                new SandboxId(id),
                new TemplateId("built"),
                layers,
                HeardBuild.SIZE,
                Map.of(),
                null,
                "root",
                null,
                Egress.open(),
                snapshot);
    }

    /// Collects whatever its age, and gives names of what was removed; small files not among them.
    private List<String> collected(List<SandboxKind> named, boolean dryRun) {
        var removed = new ArrayList<NodeDisk.Removed>();
        node.node.disk().collect(() -> named, Duration.ZERO, dryRun, removed::add);
        return removed.stream()
                .map(NodeDisk.Removed::name)
                .filter(name -> !name.matches("\\d{1,3}"))
                .toList();
    }
}
