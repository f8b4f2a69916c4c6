package dev.cay.node.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.node.linux.Attributes;
import dev.cay.node.linux.FileCalls;
import dev.cay.testing.Await;
import dev.cay.testing.NeedsRoot;
import dev.cay.wire.SandboxId;
import dev.cay.wire.TeamId;
import dev.cay.wire.TemplateId;
import dev.cay.wire.node.BuildPlan.Step;
import dev.cay.wire.node.BuildResult;
import dev.cay.wire.node.Egress;
import dev.cay.wire.node.Keep;
import dev.cay.wire.node.Resources;
import dev.cay.wire.node.SandboxSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Builds of templates in real sandboxes.
@NeedsRoot
@Timeout(180)
final class BuildsTest {
    private static final Resources SIZE = HeardBuild.SIZE;

    private TestNode.Place place;
    private TestNode node;

    @BeforeEach
    void start() throws IOException {
        place = TestNode.Place.make();
        node = new TestNode(place);
    }

    @AfterEach
    void stop() throws IOException {
        try (var _ = place) {
            node.close();
        }
    }

    @Test
    void aLayerKeepsAllThatASandboxNeedsOfIt() throws Exception {
        String capability = "0100000200200000000000000000000000000000";
        var built = require(build(
                run("mkdir -p /srv/old /srv/new && touch /srv/old/file && echo x > /srv/one && ln /srv/one /srv/two"
                        + " && python3 -c \"import os; os.setxattr('/srv/one', 'user.note', b'kept')\""),
                run(
                        "rm -rf /srv/old && mkdir /srv/old && rm /etc/issue && cp /bin/true /srv/prog && chmod 4755 /srv/prog"),
                run("python3 -c \"import os; os.setxattr('/srv/prog', 'security.capability', bytes.fromhex('"
                        + capability + "'))\""),
                run("touch -d @1000000000 /srv/dated; mkfifo /srv/pipe; chown 1000:1000 /srv/new")));
        node.keepers.create(spec("ibuilt", built.layers()));
        assertThat(node.run(
                        "ibuilt",
                        "ls -A /srv/old | wc -l; test -e /etc/issue || echo gone; stat -c '%h %U' /srv/one /srv/new;"
                                + " stat -c %a /srv/prog; stat -c %Y /srv/dated; test -p /srv/pipe && echo pipe;"
                                + " python3 -c \"import os; print(os.getxattr('/srv/prog', 'security.capability').hex()[:24],"
                                + " os.getxattr('/srv/two', 'user.note'))\""))
                .isEqualTo(
                        "0\ngone\n2 root\n1 user\n4755\n1000000000\npipe\n" + capability.substring(0, 24) + " b'kept'");
        for (String key : built.layers().subList(0, built.layers().size() - 1)) {
            assertNoForeignMarks(node.host.layers().require(key));
        }
    }

    @Test
    void aBuildOnASnapshotBeginsWithItsFilesAndDoesNotNeedItAfterwards() throws Exception {
        node.keepers.create(spec("isource", List.of("base")));
        node.run("isource", "echo saved > /srv/kept; rm /etc/issue; mkdir -m 700 /srv/own; chown 1000:1000 /srv/own");
        node.keepers.snapshot(new SandboxId("isource"), "moment", Keep.FILES);
        node.run("isource", "echo later > /srv/kept");
        var built = require(HeardBuild.begin(node, "moment", run("cat /srv/kept /srv/kept > /srv/step"))
                .await());
        node.keepers.deleteSnapshot("moment");
        node.keepers.kill(new SandboxId("isource"));

        node.keepers.create(spec("ibuilt", built.layers()));
        assertThat(node.run(
                        "ibuilt", "cat /srv/kept /srv/step; test -e /etc/issue || echo gone; stat -c '%a %u' /srv/own"))
                .isEqualTo("saved\nsaved\nsaved\ngone\n700 1000");
        for (String key : built.layers().subList(0, built.layers().size() - 1)) {
            assertNoForeignMarks(node.host.layers().require(key));
        }

        var late = HeardBuild.begin(node, "moment", run("true")).await();
        assertThat(late.failure()).contains("the snapshot to build on was deleted");
        assertThat(late.step()).isEqualTo("base");
    }

    private static SandboxSpec spec(String id, List<String> layers) {
        return new SandboxSpec(
                new SandboxId(id),
                new TemplateId("base"),
                layers,
                SIZE,
                Map.of(),
                null,
                "root",
                null,
                Egress.open(),
                null);
    }

    /// Marks of overlayfs that mean something on the pool alone.
    private static void assertNoForeignMarks(Path layer) throws IOException {
        try (var files = Files.walk(layer)) {
            for (var path : (Iterable<Path>)
                    files.filter(file -> Files.isDirectory(file) || Files.isRegularFile(file))::iterator) {
                try (var file = FileCalls.open(path.toString(), FileCalls.PATH | FileCalls.CLOEXEC, 0)) {
                    assertThat(Attributes.names(file))
                            .as(path.toString())
                            .noneMatch(name ->
                                    name.startsWith("trusted.overlay.") && !name.equals("trusted.overlay.opaque"));
                }
            }
        }
    }

    @Test
    void nobodySeesTheSandboxOfAStepAndNothingOfItIsLeft() throws Exception {
        var build = begin(run("sleep 1 & echo begun; sleep 2"));
        build.awaitLine("begun");
        assertThat(node.keepers.list()).isEmpty();
        require(build.await());
        assertNothingLeft();
    }

    @Test
    void aCancelledBuildEndsAtOnceAndLeavesNothing() throws Exception {
        var build = begin(run("echo begun; sleep 300"));
        build.awaitLine("begun");
        node.node.builds().cancel(build.id(), "somebody had enough");
        assertThat(build.await().failure()).isEqualTo("somebody had enough");
        assertNothingLeft();
    }

    @Test
    void aStepThatFillsItsDiskFailsAndLeavesNothing() throws Exception {
        var build = build(run("head -c 400M /dev/urandom > /srv/large"));
        assertThat(build.step()).isEqualTo("1");
        assertThat(build.failure()).contains("exit status").containsAnyOf("quota", "space");
        assertNothingLeft();
        require(build(run("echo small > /srv/small")));
    }

    /// Two builds run at a time on a node.
    @Test
    void aTeamsManyBuildsDoNotComeBeforeThoseOfAnother() throws Exception {
        var loud = new ArrayList<HeardBuild>();
        for (int i = 0; i < 6; i++) {
            var build =
                    HeardBuild.begin(node, new TeamId("loud"), null, run("echo begun; sleep 3; echo %d".formatted(i)));
            if (i < 2) {
                build.awaitLine("begun");
            } else {
                awaitWaiting(build);
            }
            loud.add(build);
        }
        var quiet = HeardBuild.begin(node, new TeamId("quiet"), null, run("echo done"));
        require(quiet.await());
        assertThat(loud.subList(4, 6))
                .noneMatch(build -> String.join("\n", build.lines()).contains("begun"));
        for (var build : loud) {
            require(build.await());
        }
    }

    private static void awaitWaiting(HeardBuild build) {
        Await.until(
                "the build waits for other builds",
                () -> String.join("\n", build.lines()).contains("Waiting for other builds"));
    }

    @Test
    void aBuildThatIsCutOffGoesOnWhereItWas() throws Exception {
        var steps = new Step[] {run("date +%s%N > /srv/first"), run("echo second; sleep 4")};
        var cut = begin(steps);
        cut.awaitLine("second");
        node.close();
        node = new TestNode(place);
        var again = build(steps);
        require(again);
        assertThat(again.lines()).anyMatch(line -> line.contains("CACHED RUN date"));
        assertNothingLeft();
    }

    @Test
    void halfAnArchiveThatAKilledDaemonHadReceivedIsRemoved() throws Exception {
        node.close();
        var team = Files.createDirectories(place.directory().resolve("state/uploads/team"));
        var whole = Files.writeString(team.resolve("c".repeat(64)), "whole");
        var half = Files.writeString(team.resolve("d".repeat(64) + ".123.part"), "half");
        node = new TestNode(place);
        assertThat(half).doesNotExist();
        assertThat(whole).exists();
    }

    @Test
    void filesOfOneTeamAreNotThereForAnother() throws Exception {
        String hash = "a".repeat(64);
        var team = new TeamId("one");
        try (var archive = new java.io.ByteArrayInputStream(new byte[1024])) {
            node.node.builds().putFiles(team, hash, archive, 1024);
        }
        assertThat(node.node.builds().hasFiles(team, hash)).isTrue();
        assertThat(node.node.builds().hasFiles(new TeamId("two"), hash)).isFalse();
        var stolen = build(new Step("COPY", List.of("x", "/srv/x"), hash, false));
        assertThat(stolen.failure()).contains("were not sent");
    }

    @Test
    void anArchiveThatLeadsElsewhereStaysInTheSandbox() throws Exception {
        String hash = "b".repeat(64);
        var file = place.directory().resolve("evil.tar");
        dev.cay.node.host.Programs.ofHost()
                .require(
                        TestNode.LIMIT,
                        "python3",
                        "-I",
                        "-c",
                        """
                        import io, sys, tarfile
                        t = tarfile.open(sys.argv[1], 'w')
                        for name in ('../../../../../../tmp/evil-%s', '/tmp/evil-%s'):
                            i = tarfile.TarInfo(name %% sys.argv[2]); i.size = 1; t.addfile(i, io.BytesIO(b'x'))
                        i = tarfile.TarInfo('good'); i.size = 4; t.addfile(i, io.BytesIO(b'good'))
                        t.close()
                        """.replace("%%", "%"),
                        file.toString(),
                        place.instance());
        try (var archive = Files.newInputStream(file)) {
            node.node.builds().putFiles(new TeamId("team"), hash, archive, Files.size(file));
        }
        build(new Step("COPY", List.of("good", "/srv/good"), hash, false));
        assertThat(Path.of("/tmp/evil-" + place.instance())).doesNotExist();
    }

    private void assertNothingLeft() throws IOException {
        assertThat(node.host.pool().list()).isEmpty();
        assertThat(SandboxNotes.list(place.records())).isEmpty();
        try (var layers = Files.list(place.directory().resolve("cache/layers"))) {
            assertThat(layers.map(layer -> layer.getFileName().toString()))
                    .noneMatch(name -> name.startsWith(".unfinished"));
        }
    }

    private static Step run(String command) {
        return HeardBuild.run(command);
    }

    private HeardBuild build(Step... steps) throws InterruptedException {
        return begin(steps).await();
    }

    private HeardBuild begin(Step... steps) {
        return HeardBuild.begin(node, steps);
    }

    private static BuildResult require(HeardBuild build) {
        return build.require();
    }
}
