package dev.cay.dockerfile;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.dockerfile.Evaluation.Step;
import dev.cay.dockerfile.Instruction.Add;
import dev.cay.dockerfile.Instruction.Copy;
import dev.cay.dockerfile.Instruction.InlineFile;
import dev.cay.dockerfile.Instruction.Run;
import dev.cay.dockerfile.StageGraph.Node;
import dev.cay.dockerfile.StageGraph.Origin;
import dev.cay.testing.Fast;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// Files as people write them, from text to the plan.
@Fast
final class DockerfileRealTest {
    private static final BuildArguments ARGUMENTS =
            new BuildArguments(Map.of("COMMIT", "abc", "PYTHON_VERSION", "3.13"), "linux/amd64");
    private static final StageState IMAGE = StageState.withEnvironment(Map.of("PATH", "/usr/bin"));

    private List<Node> nodes = List.of();

    /// The steps of the last stage, with the stages before it evaluated as a build does.
    private List<Step> steps(String text) {
        var file = Dockerfile.parse(text, "Dockerfile");
        var evaluation = new Evaluation(file, ARGUMENTS);
        nodes = StageGraph.plan(file, ARGUMENTS, null);
        var done = new HashMap<Integer, List<Step>>();
        for (var node : nodes) {
            var base = switch (node.base()) {
                case Origin.OfStage(int index) ->
                    done.getOrDefault(index, List.of()).getLast().after();
                case Origin.OfImage _ -> IMAGE;
                case Origin.Scratch() -> StageState.empty();
            };
            done.put(node.stage().index(), evaluation.walk(node.stage(), base));
        }
        return done.getOrDefault(nodes.getLast().stage().index(), List.of());
    }

    @Test
    void pythonApplication() {
        var steps = steps(RealDockerfiles.PYTHON);
        var state = steps.getLast().after();
        assertThat(nodes.getFirst().base()).isEqualTo(new Origin.OfImage("python:3.13-slim", null));
        assertThat(state.environment())
                .containsEntry("PATH", "/opt/venv/bin:/usr/bin")
                .hasSize(3);
        assertThat(state.user()).isEqualTo("1000");
        assertThat(state.ports()).containsExactly("8000/tcp");
        assertThat(((Run) steps.get(3).instruction()).mounts()).hasSize(1);
        assertThat(((Copy) steps.get(4).instruction()).transfer().destination()).isEqualTo("/app/");
        assertThat(StartCommand.of(state)).contains("gunicorn --bind 0.0.0.0:8000 app:app");
        assertThat(StartCommand.readyOf(state).orElseThrow()).startsWith("/bin/sh -c 'python -c \"import");
    }

    @Test
    void nodeApplication() {
        var state = steps(RealDockerfiles.NODE).getLast().after();
        assertThat(nodes).extracting(node -> node.stage().label()).containsExactly("deps", "runner");
        assertThat(state.environment()).containsEntry("NODE_ENV", "production");
        assertThat(state.labels())
                .containsEntry("org.opencontainers.image.revision", "abc")
                .containsEntry("org.opencontainers.image.title", "The app");
        assertThat(StartCommand.of(state)).contains("docker-entrypoint.sh node server.js");
    }

    @Test
    void javaBuildInStages() {
        var state = steps(RealDockerfiles.JAVA).getLast().after();
        assertThat(nodes).extracting(node -> node.stage().label()).containsExactly("build", "2");
        assertThat(nodes.getFirst().base()).isEqualTo(new Origin.OfImage("eclipse-temurin:25-jdk", "linux/amd64"));
        assertThat(nodes.getLast().sources()).isEqualTo(Map.of("build", new Origin.OfStage(0)));
        assertThat(state.environment()).containsEntry("JAVA_VERSION", "25");
        assertThat(StartCommand.of(state)).contains("/bin/sh -c 'exec java $JAVA_OPTS -jar /app/app.jar'");
    }

    @Test
    void packagesOfDebian() {
        var steps = steps(RealDockerfiles.APT);
        var install = (CommandLine.Shell) ((Run) steps.get(2).instruction()).command();
        assertThat(install.text())
                .contains("build-essential")
                .doesNotContain("#")
                .doesNotContain("\n");
        assertThat(steps.get(2).before().shell()).contains("pipefail");
        assertThat(steps.get(2).before().runEnvironment()).containsEntry("DEBIAN_FRONTEND", "noninteractive");
        var script = (CommandLine.Shell) ((Run) steps.get(3).instruction()).command();
        assertThat(script.text()).startsWith("set -e\n").contains("# a comment of the script\n");
        assertThat(((Copy) steps.get(4).instruction()).transfer().files())
                .containsExactly(
                        new InlineFile("settings.conf", "price = $5\n", false),
                        new InlineFile("motd", "built with noninteractive\n", false));
        var add = (Add) steps.get(5).instruction();
        assertThat(add.checksum()).startsWith("sha256:24454f");
        assertThat(add.at()).isEqualTo(new Position(24, 1));
    }

    @Test
    void smallImageWithoutRoot() {
        var state = steps(RealDockerfiles.DISTROLESS).getLast().after();
        assertThat(nodes.getLast().base()).isEqualTo(new Origin.Scratch());
        assertThat(nodes.getLast().sources())
                .isEqualTo(Map.of(
                        "build",
                        new Origin.OfStage(0),
                        "gcr.io/distroless/static:nonroot",
                        new Origin.OfImage("gcr.io/distroless/static:nonroot", null)));
        assertThat(state.user()).isEqualTo("65532:65532");
        assertThat(StartCommand.of(state)).contains("/app --listen :8080");
    }
}
