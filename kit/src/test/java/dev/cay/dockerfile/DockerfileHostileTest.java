package dev.cay.dockerfile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.cay.testing.Fast;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Input that nobody writes by mistake: it is refused with a clear message, in bounded time and memory.
@Fast
@Timeout(300)
final class DockerfileHostileTest {
    private static final BuildArguments ARGUMENTS = new BuildArguments(Map.of("G", "given"), "linux/amd64");

    private static String refusal(String text) {
        var refused = catchThrowableOfType(DockerfileException.class, () -> evaluate(text));
        assertThat(refused).isNotNull();
        String message = String.valueOf(refused.getMessage());
        assertThat(message).hasSizeLessThan(20_000);
        return message;
    }

    /// All that can be done with a Dockerfile without a context.
    private static void evaluate(String text) {
        var file = Dockerfile.parse(text, "Dockerfile");
        var evaluation = new Evaluation(file, ARGUMENTS);
        for (var node : StageGraph.plan(file, ARGUMENTS, null)) {
            var steps = evaluation.walk(node.stage(), StageState.withEnvironment(Map.of("PATH", "/bin")));
            if (!steps.isEmpty()) {
                StartCommand.of(steps.getLast().after());
                StartCommand.readyOf(steps.getLast().after());
            }
        }
    }

    @Test
    void largeFilesAreRefused() {
        assertThat(refusal("FROM a\n" + "RUN x\n".repeat(100_000)))
                .startsWith("Dockerfile:4001:1: the file has more than 4,000 instructions");
        assertThat(refusal("FROM a\nRUN " + "x".repeat(2_000_000)))
                .startsWith("Dockerfile:2:1: the instruction has more than 1,048,576 characters");
        assertThat(refusal("FROM a\nRUN x" + " \\\n y".repeat(500_000)))
                .contains("the instruction has more than 1,048,576 characters");
        assertThat(refusal("#".repeat(5_000_000))).contains("the file has more than 4,194,304 characters");
    }

    @Test
    void longLinesBelowTheLimitTakeLinearTime() {
        evaluate("FROM a\nRUN " + "x ".repeat(500_000));
        evaluate("FROM a\nRUN x" + " \\\n# y\n\n".repeat(400_000));
        evaluate("FROM a\nCOPY " + "x ".repeat(200_000) + "/y/");
        evaluate("FROM a\nCMD [" + "\"x\", ".repeat(100_000) + "\"y\"]");
        evaluate("FROM a\nRUN " + "[".repeat(900_000));
        evaluate("FROM a\nLABEL " + "x=1 ".repeat(200_000));
        evaluate("FROM a\nENV A=" + "\\$".repeat(60_000));
        assertThat(refusal("FROM a\nCOPY " + "<<A ".repeat(200_000) + "/y/")).contains("the heredoc A is not ended");
        assertThat(refusal("FROM a\nRUN " + "--mount=target=/x ".repeat(50_000)))
                .contains("RUN has no command");
        assertThat(refusal("FROM a\nRUN --" + "a".repeat(900_000) + " x")).contains("RUN has no flag --aaa");
        assertThat(refusal("FROM a\n" + "X".repeat(900_000))).contains("unknown instruction XXX");
    }

    @Test
    void nestedExpressionsAreLimited() {
        assertThat(refusal("FROM a\nENV A=" + "${A:-".repeat(100_000)))
                .isEqualTo("Dockerfile:2:327: ${…} is nested more than 64 times; use an ARG in between");
        assertThat(refusal("FROM a\nENV A=" + "${".repeat(100_000))).contains("${${ is not an expression");
        assertThat(refusal("FROM a\nENV A=" + "${$".repeat(100_000))).contains("is not an expression");
        assertThat(refusal("FROM a\nENV A=" + "\"${A:-".repeat(100_000))).contains("nested more than 64 times");
    }

    @Test
    void valuesThatGrowAreLimited() {
        assertThat(refusal("FROM a\nENV A=0123456789\n" + "ENV A=$A$A\n".repeat(60)))
                .contains("a value expands to more than 131,071 characters");
        assertThat(refusal("FROM a\nENV A=" + "x".repeat(100_000) + "\n" + "ENV A=${A//x/y} B=$A\n".repeat(3000)))
                .contains("the variables of this file expand to too much");
        assertThat(refusal("FROM a\nENV A=" + "a".repeat(100_000) + "\n"
                        + ("ENV B=${A##" + "*a".repeat(500) + "b}\n").repeat(1000)))
                .contains("the variables of this file expand to too much");
        assertThat(refusal("FROM a\nENV A=" + "x".repeat(1000) + " B=" + "y".repeat(1000) + "\nENV C=${A//x/$B}"))
                .contains("a value expands to more than");
        assertThat(refusal("FROM a\nENV A=x\nENV B=${A#" + "y".repeat(2000) + "}"))
                .contains("more than 1,024");
    }

    @Test
    void pathsThatGrowAreLimited() {
        assertThat(refusal("FROM a\n" + ("WORKDIR " + "a/".repeat(400) + "\n").repeat(2000)))
                .startsWith("Dockerfile:7:1: a path has more than 4,095 characters");
    }

    @Test
    void variablesAreCounted() {
        var text = new StringBuilder("FROM a\n");
        for (int i = 0; i < 3000; i++) {
            text.append("ENV V").append(i).append("=1\n");
        }
        assertThat(refusal(text.toString())).contains("the stage sets more than 1,000 variables");
    }

    @Test
    void stagesInARowAreNoProblem() {
        var text = new StringBuilder("FROM a AS s0\n");
        for (int i = 1; i < 3999; i++) {
            text.append("FROM s").append(i - 1).append(" AS s").append(i).append('\n');
        }
        var file = Dockerfile.parse(text.toString(), "Dockerfile");
        assertThat(StageGraph.plan(file, ARGUMENTS, null)).hasSize(3999);
    }

    @Test
    void unfinishedTextIsRefused() {
        assertThat(refusal("FROM a\nRUN a\0b"))
                .isEqualTo("Dockerfile:2:6: the file has a NUL character; save it as plain UTF-8 text");
        assertThat(refusal("FROM a\nRUN <<EOF\nx\n EOF\n"))
                .isEqualTo("Dockerfile:2:1: the heredoc EOF is not ended; add a line that has only EOF");
        evaluate("FROM a\nRUN x \\\n");
        evaluate("FROM a\nRUN x \\\n\\\n\\\n");
        assertThat(refusal("\\\nFROM")).contains("FROM takes an image");
        assertThat(refusal("FROM a\nRUN \\\n")).contains("RUN has no command");
    }

    @Test
    void manyProblemsAreCounted() {
        assertThat(refusal("FROM a\n" + "RNU x\n".repeat(3000)).lines())
                .hasSize(51)
                .last()
                .isEqualTo("and 2950 more problems");
    }

    @Test
    void patternsTakeLinearTime() {
        var rules = IgnoreRules.parse("*a".repeat(400) + "b\n" + "**/".repeat(300) + "x\n");
        assertThat(rules.ignores("a".repeat(4000), false)).isFalse();
        assertThat(rules.ignores("a/".repeat(1000) + "y", false)).isFalse();
    }

    private static final List<String> PARTS = List.of(
            "FROM ",
            "RUN ",
            "COPY ",
            "ADD ",
            "ENV ",
            "ARG ",
            "CMD ",
            "LABEL ",
            "HEALTHCHECK ",
            "EXPOSE ",
            "SHELL ",
            "USER ",
            "WORKDIR ",
            "VOLUME ",
            "STOPSIGNAL ",
            "ONBUILD ",
            "\n",
            "\\\n",
            "\r\n",
            " ",
            "\t",
            "=",
            "\"",
            "'",
            "${",
            "}",
            "$",
            ":-",
            ":?",
            "##",
            "%%",
            "//",
            "\\",
            "`",
            "[",
            "]",
            "[\"",
            "\"]",
            ",",
            "<<EOF",
            "<<-E",
            "EOF\n",
            "--from=",
            "--mount=type=",
            "--chmod=",
            "--exclude=",
            "cache,",
            "target=/x,",
            "CMD",
            "NONE",
            "AS ",
            "scratch",
            "# escape=`\n",
            "#",
            "0",
            "1",
            "a",
            "A",
            "ü",
            "\uD83D\uDE00",
            "\uD800",
            "\uFEFF",
            "\u2028",
            "*",
            "?",
            "/",
            "..",
            "\\u0000",
            "\0");

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233})
    void mutatedFilesFailOnlyInTheOneWay(long seed) {
        var random = new Random(seed);
        for (int round = 0; round < 300; round++) {
            var text = new StringBuilder(RealDockerfiles.ALL.get(random.nextInt(RealDockerfiles.ALL.size())));
            for (int change = random.nextInt(8); change >= 0; change--) {
                mutate(text, random);
            }
            try {
                evaluate(text.toString());
            } catch (DockerfileException e) {
                assertThat(e.problems()).isNotEmpty();
                assertThat(e.problems())
                        .allMatch(problem ->
                                problem.at().line() > 0 && problem.at().column() > 0);
            }
        }
    }

    private static void mutate(StringBuilder text, Random random) {
        int at = random.nextInt(text.length() + 1);
        switch (random.nextInt(4)) {
            case 0 -> text.delete(at, Math.min(text.length(), at + random.nextInt(20)));
            case 1 -> text.insert(at, text.substring(at, Math.min(text.length(), at + random.nextInt(80))));
            case 2 -> text.setLength(Math.max(at, 1));
            default -> text.insert(at, PARTS.get(random.nextInt(PARTS.size())));
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {7, 77, 777, 7777})
    void randomRulesFailOnlyInTheOneWay(long seed) {
        var random = new Random(seed);
        for (int round = 0; round < 2000; round++) {
            var text = new StringBuilder();
            for (int i = random.nextInt(12); i >= 0; i--) {
                text.append(
                        List.of("*", "**", "?", "[", "]", "^", "-", "!", "/", "..", ".", "a", "b", "\\", "\n", "#", " ")
                                .get(random.nextInt(17)));
            }
            try {
                var rules = IgnoreRules.parse(text.toString());
                rules.ignores("a/b", random.nextBoolean());
                rules.ignores("", true);
            } catch (DockerfileException e) {
                assertThat(e.problems()).isNotEmpty();
            }
        }
    }
}
