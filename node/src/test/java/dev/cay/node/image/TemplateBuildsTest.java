package dev.cay.node.image;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.cay.node.host.Programs;
import dev.cay.testing.Await;
import dev.cay.testing.Fast;
import dev.cay.wire.CayException;
import dev.cay.wire.node.NodeTemplate;
import dev.cay.wire.node.NodeTemplate.State;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Builds in the background, with programs in place of mmdebstrap that fail or never end.
@Timeout(60)
@Fast
final class TemplateBuildsTest {
    private static final String NAME = "code-interpreter-lite";

    @TempDir
    private Path dir;

    @BeforeEach
    void needTools() {
        assumeTrue(BuildTools.missing(Programs.ofHost()).isEmpty(), "no tools to build with");
    }

    /// @param instead a shell's words for what happens when a tree is to be made; the tree is `$tree`
    private TemplateBuilds builds(String instead) {
        String script = "for tree in \"$@\"; do case $tree in *.unfinished-*) break;; esac; done;"
                + " case \"$*\" in *--mode=root*) %s;; *) exec \"$@\";; esac".formatted(instead);
        var programs = new Programs(List.of("sh", "-c", script, "--"));
        var layers = new LayerStore(dir);
        var templates = Stream.of(NAME, HouseTemplate.BASE)
                .map(name -> new HouseTemplate(name, layers, programs, dir.resolve("logs")))
                .toList();
        return new TemplateBuilds(layers, templates);
    }

    private static NodeTemplate only(TemplateBuilds builds) {
        return builds.list().getFirst();
    }

    @Test
    void saysWhyOneFailedAndTriesAgainWhenAsked() throws Exception {
        try (var builds = builds("echo 'E: no mirror today'; echo tried >> %s/tries; exit 1".formatted(dir))) {
            assertThat(only(builds).state()).isEqualTo(State.ABSENT);
            assertThat(builds.built()).isEmpty();
            assertThat(builds.prepare(NAME).state()).isEqualTo(State.BUILDING);
            Await.until("the build fails", () -> only(builds).state() == State.FAILED);
            assertThat(only(builds).news()).contains("no mirror today", "check that this host reaches", "log");
            assertThat(unfinished()).isEmpty();

            assertThat(builds.prepare(NAME).state()).isEqualTo(State.BUILDING);
            Await.until("the second build fails", () -> only(builds).state() == State.FAILED);
            assertThat(dir.resolve("tries")).hasContent("tried\ntried");
        }
    }

    @Test
    void leavesNothingOfABuildThatIsCutShort() throws Exception {
        var told = dir.resolve("pid");
        try (var builds =
                builds("cd \"$tree\"; seq 40000 | xargs touch; echo $$ > %s; exec sleep 1000".formatted(told))) {
            builds.prepare(NAME);
            Await.until("the build writes its process id", () -> Files.exists(told) && Files.size(told) > 0);
            assertThat(unfinished()).hasSize(1);
        }
        assertThat(unfinished()).isEmpty();
        long pid = Long.parseLong(Files.readString(told).strip());
        Await.until("the process of the build ends", () -> ProcessHandle.of(pid).isEmpty());
    }

    @Test
    void tellsHowFarItIsAlsoToOtherProcesses() throws Exception {
        var told = dir.resolve("pid");
        String progress = "echo 'I: running apt-get update...'; echo on > %s; exec sleep 1000".formatted(told);
        try (var builds = builds(progress)) {
            builds.prepare(NAME);
            Await.until(
                    "the build reads package lists", () -> only(builds).news().contains("reading package lists"));
            var other = new HouseTemplate(NAME, new LayerStore(dir), Programs.ofHost(), dir.resolve("logs"));
            Await.until(
                    "another reader sees the progress", () -> other.underWay().isPresent());
            assertThat(other.underWay().orElseThrow()).isEqualTo("1 %, reading package lists");
        }
        assertThat(new LayerStore(dir).underWay(Recipe.of(NAME).key(HostArchitecture.name())))
                .isEmpty();
    }

    @Test
    void whatIsBuiltDoesNotWaitForWhatIsNot() throws Exception {
        try (var builds = builds(endless())) {
            builds.prepare(NAME);
            Await.until("the first build begins", () -> Files.exists(dir.resolve("begun")));
            haveTreeOfBase();
            builds.prepare(HouseTemplate.BASE);
            Await.until(
                    "the base template is ready", () -> builds.list().getLast().state() == State.READY);
            assertThat(only(builds).state()).isEqualTo(State.BUILDING);
        }
    }

    @Test
    void whatAnotherProcessBuiltMeanwhileIsReadyWhenAskedFor() throws Exception {
        try (var builds = builds(endless())) {
            builds.prepare(NAME);
            Await.until("the first build begins", () -> Files.exists(dir.resolve("begun")));
            assertThat(builds.prepare(HouseTemplate.BASE).news()).startsWith("it begins, about ");
            haveTreeOfBase();
            builds.prepare(HouseTemplate.BASE);
            Await.until(
                    "the base template is ready", () -> builds.list().getLast().state() == State.READY);
            assertThat(only(builds).state()).isEqualTo(State.BUILDING);
        }
    }

    private String endless() {
        return "echo on > %s; exec sleep 1000".formatted(dir.resolve("begun"));
    }

    private void haveTreeOfBase() throws IOException {
        String key = Recipe.of(HouseTemplate.BASE).key(HostArchitecture.name());
        var layer = Files.createDirectories(dir.resolve("layers").resolve(key));
        Files.writeString(layer.resolve("bytes"), "4096\n");
        Files.createDirectory(layer.resolve("rootfs"));
    }

    @Test
    void knowsOnlyItsOwn() {
        try (var builds = builds("exit 1")) {
            assertThatThrownBy(() -> builds.prepare("windows"))
                    .isInstanceOf(CayException.class)
                    .hasMessageContaining(NAME);
            assertThat(builds.holds(List.of())).isTrue();
            assertThat(builds.holds(List.of("nothing"))).isFalse();
        }
    }

    private List<Path> unfinished() throws IOException {
        try (var all = Files.list(dir.resolve("layers"))) {
            return all.filter(path -> path.getFileName().toString().startsWith(".unfinished-"))
                    .toList();
        }
    }
}
