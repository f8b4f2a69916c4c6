package dev.cay.dockerfile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.cay.dockerfile.Evaluation.Step;
import dev.cay.dockerfile.Instruction.Copy;
import dev.cay.dockerfile.Instruction.Run;
import dev.cay.dockerfile.Instruction.Source;
import dev.cay.dockerfile.StageGraph.Node;
import dev.cay.dockerfile.StageGraph.Origin;
import dev.cay.testing.Fast;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Values of variables, states of stages, and which stages a target needs.
@Fast
final class DockerfileEvaluationTest {
    private static final Map<String, String> VARIABLES =
            Map.of("A", "apple", "E", "", "F", "/usr/lib/a.tar.gz", "X_1", "under", "S", "a b", "D", "$A");
    private static final BuildArguments NO_ARGUMENTS = new BuildArguments(Map.of(), "linux/amd64");

    private static List<Step> walk(String text, Map<String, String> base, Map<String, String> arguments) {
        var file = Dockerfile.parse(text, "Dockerfile");
        return new Evaluation(file, new BuildArguments(arguments, "linux/arm64"))
                .walk(file.stages().getLast(), StageState.withEnvironment(base));
    }

    private static StageState last(String text, Map<String, String> base, Map<String, String> arguments) {
        return walk(text, base, arguments).getLast().after();
    }

    private static StageState last(String text) {
        return last(text, Map.of(), Map.of());
    }

    private static String refusal(Runnable action) {
        var refused = catchThrowableOfType(DockerfileException.class, action::run);
        assertThat(refused).isNotNull();
        return String.valueOf(refused.getMessage());
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '~',
            delimiterString = " => ",
            value = {
                "$A => apple",
                "${A}s => apples",
                "$As => ~~",
                "$A-x => apple-x",
                "$X_1 => under",
                "$U => ~~",
                "x${U}y => xy",
                "${U:-d} => d",
                "${E:-d} => d",
                "${A:-d} => apple",
                "${U-d} => d",
                "${E-d} => ~~",
                "${U:+d} => ~~",
                "${E:+d} => ~~",
                "${A:+d} => d",
                "${E+d} => d",
                "${U+d} => ~~",
                "${A:?no} => apple",
                "${E?no} => ~~",
                "${U:-${A}} => apple",
                "${U:-$A-$A} => apple-apple",
                "${U:-${V:-${A:+deep}}} => deep",
                "${U:-\"a b\"} => a b",
                "${F#*/} => usr/lib/a.tar.gz",
                "${F##*/} => a.tar.gz",
                "${F%.*} => /usr/lib/a.tar",
                "${F%%.*} => /usr/lib/a",
                "${F#/usr} => /lib/a.tar.gz",
                "${F#x} => /usr/lib/a.tar.gz",
                "${A#a?p} => le",
                "${A%l?} => app",
                "${A/p/P} => aPple",
                "${A//p/P} => aPPle",
                "${A/p*/x} => ax",
                "${A//?/x} => xxxxx",
                "${A/z/x} => apple",
                "${A//p/} => ale",
                "${F//\\//-} => -usr-lib-a.tar.gz",
                "${A//p/$X_1} => aunderunderle",
                "${U#x} => ~~",
                "\\$A => $A",
                "\\${A} => ${A}",
                "a\\ b => a b",
                "\\\\ => \\",
                "'$A' => $A",
                "\"$A\" => apple",
                "\"'$A'\" => 'apple'",
                "'\"' => \"",
                "\"\\$A\" => $A",
                "\"\\x\" => \\x",
                "\"a\"'b'c => abc",
                "$ => $",
                "$. => $.",
                "a$ => a$",
                "$1x => x",
                "$$ => ~~",
                "$D => $A",
                "$S => a b",
            })
    void expands(String word, String expected) throws Expansion.Failure {
        assertThat(new Expansion('\\').word(word, VARIABLES::get)).isEqualTo(expected);
    }

    @Test
    void expandsWithTheOtherEscapeCharacter() throws Expansion.Failure {
        assertThat(new Expansion('`').word("`$A \\$A \"`$A\"", VARIABLES::get)).isEqualTo("$A \\apple $A");
    }

    @Test
    void quotesOfHeredocsAreText() throws Expansion.Failure {
        assertThat(new Expansion('\\').content("it's \"$A\" '${A}' \\$A\n", VARIABLES::get))
                .isEqualTo("it's \"apple\" 'apple' $A\n");
    }

    @Test
    void messagesOfRequiredVariablesAreShown() {
        assertThat(refusal(() -> last("FROM a\nENV X=1\nENV A=\"${B:?set B please}\"")))
                .isEqualTo("Dockerfile:3:5: B: set B please; set it with ARG, ENV or a build argument");
        assertThat(refusal(() -> last("FROM a\nENV B=\nENV A=${B:?}"))).contains("B: is empty");
        assertThat(refusal(() -> last("FROM a\nWORKDIR $X\nUSER $X\nENV $X=1")).lines())
                .hasSize(3);
    }

    @Test
    void oneLineSeesTheValuesBeforeIt() {
        assertThat(last("FROM a\nENV abc=hello\nENV abc=bye def=$abc\nENV ghi=$abc")
                        .environment())
                .isEqualTo(Map.of("abc", "bye", "def", "hello", "ghi", "bye"));
    }

    @Test
    void theImagesEnvironmentIsTheFirst() {
        var state = last("FROM a\nENV PATH=/x:$PATH", Map.of("PATH", "/bin", "LANG", "C"), Map.of());
        assertThat(state.environment()).isEqualTo(Map.of("PATH", "/x:/bin", "LANG", "C"));
    }

    @Test
    void envWinsOverArg() {
        var state = last("FROM a\nARG V=arg\nENV V=env\nARG V=later\nENV W=$V", Map.of(), Map.of("V", "given"));
        assertThat(state.environment()).containsEntry("W", "env");
        assertThat(state.runEnvironment()).containsEntry("V", "env");
        assertThat(last("FROM a\nARG V\nENV V=${V:-v1.0}").environment()).containsEntry("V", "v1.0");
        assertThat(last("FROM a\nARG V\nENV V=${V:-v1.0}", Map.of(), Map.of("V", "v2"))
                        .environment())
                .containsEntry("V", "v2");
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '~',
            delimiterString = " => ",
            value = {
                "FROM a|ARG V=1|ENV R=$V => 1",
                "ARG V=1|FROM a|ENV R=$V => ~~",
                "ARG V=1|FROM a|ARG V|ENV R=$V => 1",
                "ARG V=1|FROM a|ARG V=2|ENV R=$V => 2",
                "ARG V=1|ARG W=${V}2|FROM a|ARG W|ENV R=$W => 12",
                "ARG V=1 W=${V}2|FROM a|ARG W|ENV R=$W => 12",
                "FROM a|ENV R=$G|ARG G => ~~",
                "FROM a|ARG G|ENV R=$G => given",
                "FROM a|ARG G=default|ENV R=$G => given",
                "ARG G=global|FROM a|ARG G|ENV R=$G => given",
                "FROM a|ENV R=$G => ~~",
                "FROM a|ARG TARGETARCH|ENV R=$TARGETARCH => arm64",
                "FROM a|ARG TARGETPLATFORM TARGETOS|ENV R=$TARGETPLATFORM,$TARGETOS => linux/arm64,linux",
                "FROM a|ARG BUILDPLATFORM|ENV R=$BUILDPLATFORM => linux/arm64",
                "FROM a|ENV R=$TARGETARCH => ~~",
                "FROM a|ARG V=1|ARG W=$V|ENV R=$W => 1",
                "FROM a|ARG V=1|ARG V=5 W=$V|ENV R=$W => 1",
            })
    void scopesOfArguments(String text, String expected) {
        assertThat(last(text.replace('|', '\n') + "\nUSER x", Map.of(), Map.of("G", "given"))
                        .environment())
                .containsEntry("R", expected);
    }

    @Test
    void stagesInheritArgumentsOfTheirBase() {
        var file = Dockerfile.parse("FROM a AS b\nARG V=1\nUSER u\nFROM b\nENV R=$V\n", "Dockerfile");
        var evaluation = new Evaluation(file, NO_ARGUMENTS);
        var first = evaluation.walk(file.stages().getFirst(), StageState.empty());
        var second = evaluation.walk(file.stages().get(1), first.getLast().after());
        assertThat(second.getLast().after().environment()).containsEntry("R", "1");
        assertThat(second.getLast().after().user()).isEqualTo("u");
    }

    @Test
    void proxiesNeedNoDeclaration() {
        var arguments = new BuildArguments(Map.of("HTTP_PROXY", "http://p", "OTHER", "x"), "linux/amd64");
        assertThat(arguments.proxies()).isEqualTo(Map.of("HTTP_PROXY", "http://p"));
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '~',
            delimiterString = " => ",
            value = {
                "WORKDIR /a => /a",
                "WORKDIR a => /a",
                "WORKDIR /a|WORKDIR b/../c/. => /a/c",
                "WORKDIR /a/|WORKDIR .. => /",
                "ENV D=/x|WORKDIR $D/$U/y => /x/y",
                "WORKDIR \"/a b\" => /a b",
            })
    void workdirs(String text, String expected) {
        assertThat(last("FROM a\n" + text.replace('|', '\n')).workdir()).isEqualTo(expected);
    }

    @Test
    void stateHasEverythingThatAnImageHas() {
        var state = last("""
                FROM a
                EXPOSE 80 53/UDP $P
                EXPOSE 80/tcp
                LABEL a=1 b="x y"
                LABEL a=2
                VOLUME /d ["/e"]
                STOPSIGNAL SIGINT
                USER ${NAME:-app}
                SHELL ["/bin/bash", "-c"]
                CMD echo "$HOME"
                HEALTHCHECK --retries=2 CMD curl -f localhost
                """, Map.of("P", "8000-8010 9000"), Map.of());
        assertThat(state.ports()).containsExactly("80/tcp", "53/udp", "8000-8010/tcp", "9000/tcp");
        assertThat(state.labels()).isEqualTo(Map.of("a", "2", "b", "x y"));
        assertThat(state.stopSignal()).isEqualTo("SIGINT");
        assertThat(state.user()).isEqualTo("app");
        assertThat(state.command()).containsExactly("/bin/bash", "-c", "echo \"$HOME\"");
        assertThat(StartCommand.of(state)).contains("/bin/bash -c 'echo \"$HOME\"'");
        assertThat(StartCommand.readyOf(state)).contains("/bin/bash -c 'curl -f localhost'");
        assertThat(StartCommand.readyOf(last("FROM a\nHEALTHCHECK CMD x\nHEALTHCHECK NONE")))
                .isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '~',
            delimiterString = " => ",
            value = {
                "CMD [\"python\", \"app.py\"] => python app.py",
                "CMD [\"sh\", \"-c\", \"it's $X\"] => sh -c 'it'\\''s $X'",
                "CMD [\"a\", \"\"] => a ''",
                "CMD npm start => /bin/sh -c 'npm start'",
                "ENTRYPOINT [\"a\"]|CMD [\"b\", \"c d\"] => a b 'c d'",
                "CMD [\"b\"]|ENTRYPOINT [\"a\"] => a b",
                "ENTRYPOINT [\"a\"]|CMD [\"b\"]|CMD [] => a",
                "ENTRYPOINT exec a => /bin/sh -c 'exec a'",
            })
    void startCommands(String text, String expected) {
        assertThat(StartCommand.of(last("FROM a\n" + text.replace('|', '\n')))).contains(expected);
    }

    @Test
    void anEntrypointForgetsTheCommandOfTheBase() {
        var file = Dockerfile.parse("FROM a AS x\nCMD [\"old\"]\nFROM x\nENTRYPOINT [\"new\"]\n", "Dockerfile");
        var evaluation = new Evaluation(file, NO_ARGUMENTS);
        var base = evaluation
                .walk(file.stages().getFirst(), StageState.empty())
                .getLast()
                .after();
        var state = evaluation.walk(file.stages().get(1), base).getLast().after();
        assertThat(StartCommand.of(state)).contains("new");
        assertThat(StartCommand.of(StageState.empty())).isEmpty();
    }

    @Test
    void commandsAreLeftToTheShellAndCopiesAreResolved() {
        var steps = walk("""
                FROM a
                ENV V=1 W=app
                WORKDIR /srv
                RUN --mount=type=cache,target=$W/cache echo $V
                COPY --chown=$W:$W --chmod=${M:-644} --exclude=*.$W $W/*.txt <<f.conf ./$W/
                v=$V
                f.conf
                """, Map.of(), Map.of());
        var run = (Run) steps.get(2).instruction();
        assertThat(run.command()).isEqualTo(new CommandLine.Shell("echo $V"));
        assertThat(run.mounts().getFirst().target()).isEqualTo("/srv/app/cache");
        assertThat(steps.get(2).before().workdir()).isEqualTo("/srv");
        var transfer = ((Copy) steps.get(3).instruction()).transfer();
        assertThat(transfer.owner()).isEqualTo("app:app");
        assertThat(transfer.mode()).isEqualTo("644");
        assertThat(transfer.excludes()).containsExactly("*.app");
        assertThat(transfer.sources()).extracting(Source::text).containsExactly("app/*.txt");
        assertThat(transfer.destination()).isEqualTo("/srv/app/");
        assertThat(transfer.files().getFirst().content()).isEqualTo("v=1\n");
    }

    private static String plan(String text, @Nullable String target, Map<String, String> arguments) {
        var file = Dockerfile.parse(text.replace('|', '\n'), "Dockerfile");
        return StageGraph.plan(file, new BuildArguments(arguments, "linux/amd64"), target).stream()
                .map(DockerfileEvaluationTest::shown)
                .collect(Collectors.joining(" "));
    }

    private static String shown(Node node) {
        return node.stage().label() + "<"
                + switch (node.base()) {
                    case Origin.OfStage(int index) -> "" + index;
                    case Origin.OfImage(String image, var platform) ->
                        platform == null ? image : image + "@" + platform;
                    case Origin.Scratch() -> "-";
                };
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '~',
            delimiterString = " => ",
            nullValues = "last",
            value = {
                "FROM a => last => 0<a",
                "FROM a AS x|FROM b AS y => last => y<b",
                "FROM a AS x|FROM b AS y => x => x<a",
                "FROM a AS x|FROM b AS y => X => x<a",
                "FROM a AS x|FROM b AS y => 0 => x<a",
                "FROM a AS x|FROM x AS y => last => x<a y<0",
                "FROM a AS x|FROM b|COPY --from=x /a /b => last => x<a 1<b",
                "FROM a|FROM b|COPY --from=0 /a /b => last => 0<a 1<b",
                "FROM a|FROM b|COPY --from=nginx:1 /a /b => last => 1<b",
                "FROM a AS x|FROM b|RUN --mount=type=bind,from=x,target=/x y => last => x<a 1<b",
                "FROM a AS x|FROM b AS y|FROM c|COPY --from=y 1 2|COPY --from=x 1 2 => last => x<a y<b 2<c",
                "FROM a|COPY --from=later 1 2|FROM b AS later => 0 => later<b 0<a",
                "FROM scratch => last => 0<-",
                "FROM debian AS debian => last => debian<debian",
                "ARG I=a|FROM ${I}:1 => last => 0<a:1",
                "ARG I=a|FROM ${I:+x} AS x|FROM x => last => x<x 1<0",
                "ARG S=x|FROM a AS x|FROM $S => last => x<a 1<0",
                "FROM --platform=$TARGETPLATFORM a => last => 0<a@linux/amd64",
            })
    void plans(String text, @Nullable String target, String expected) {
        assertThat(plan(text, target, Map.of()).split(" ")).containsExactlyInAnyOrder(expected.split(" "));
        assertThat(plan(text, target, Map.of())).endsWith(expected.substring(expected.lastIndexOf(' ') + 1));
    }

    @Test
    void buildArgumentsChooseTheBase() {
        assertThat(plan("ARG I=a|FROM $I", null, Map.of("I", "b"))).isEqualTo("0<b");
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '~',
            delimiterString = " => ",
            value = {
                "FROM a AS build => biuld => 1:1: there is no stage biuld to build; did you mean build?",
                "FROM a => 7 => 1:1: there is no stage 7 to build; name a stage",
                "FROM a|COPY --from=3 x y => 0 => 2:1: there is no stage 3; stages have the numbers 0 to 0",
                "FROM a AS x|COPY --from=x 1 2 => 0 => 2:1: the stage x copies from itself; name another",
                "FROM a AS x|COPY --from=y 1 2|FROM b AS y|COPY --from=x 1 2 => 0 => 3:1: the stages y and x need",
                "FROM $U => 0 => 1:1: $U expands to nothing; give its ARG a default",
                "FROM Debian => 0 => 1:1: Debian is neither a stage nor an image; write an image",
                "FROM a/Bc:1 => 0 => 1:1: a/Bc:1 is neither a stage nor an image; write an image",
                "ARG P=windows/amd64|FROM --platform=$P a => 0 => 2:1: images of Windows are not supported; use",
            })
    void refusesPlans(String text, String target, String expected) {
        assertThat(refusal(() -> plan(text, target, Map.of()))).startsWith("Dockerfile:" + expected);
    }
}
