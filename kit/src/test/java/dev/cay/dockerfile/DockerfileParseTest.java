package dev.cay.dockerfile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.cay.dockerfile.Instruction.Add;
import dev.cay.dockerfile.Instruction.Assignment;
import dev.cay.dockerfile.Instruction.Copy;
import dev.cay.dockerfile.Instruction.InlineFile;
import dev.cay.dockerfile.Instruction.Run;
import dev.cay.dockerfile.Instruction.Source;
import dev.cay.testing.Fast;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// How text becomes instructions. In tables, `|` stands for a line end.
@Fast
final class DockerfileParseTest {
    private static Dockerfile parse(String text) {
        return Dockerfile.parse(text, "Dockerfile");
    }

    /// The only instruction behind `FROM a`.
    private static Instruction only(String text) {
        var instructions = parse("FROM a\n" + text + "\n").stages().getFirst().instructions();
        assertThat(instructions).hasSize(1);
        return instructions.getFirst();
    }

    private static String shellText(String text) {
        return ((CommandLine.Shell) ((Run) only(text)).command()).text();
    }

    private static String refusal(String text) {
        var refused = catchThrowableOfType(DockerfileException.class, () -> parse(text));
        assertThat(refused).as(text).isNotNull();
        return String.valueOf(refused.getMessage());
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '~',
            value = {
                "RUN echo a, echo a",
                "run echo a, echo a",
                "  RUN   echo a  , echo a",
                "RUN echo a \\| b, echo a  b",
                "RUN echo a \\|b, echo a b",
                "RUN echo a \\  |b, echo a b",
                "RUN echo a \\|# a comment|b, echo a b",
                "RUN echo a \\|   # a comment|b, echo a b",
                "RUN echo a \\||b, echo a b",
                "RUN echo a # b, echo a # b",
                "RUN echo a \\\\, echo a \\\\",
                "RUN echo a \\, echo a",
                "RUN [a], [a]",
                "RUN ['a'], ['a']",
                "RUN [\"a\"] && b, [\"a\"] && b",
                "RUN [ -f x ] && y, [ -f x ] && y",
                "RUN [[ -f x ]] && y, [[ -f x ]] && y",
                "RUN cat <<<EOF, cat <<<EOF",
                "RUN echo $((1 << 2)), echo $((1 << 2))",
                "RUN echo \"<<EOF\", echo \"<<EOF\"",
                "RUN -- --x, --x",
                "RUN echo $A ${B}, echo $A ${B}",
            })
    void shellForm(String text, String expected) {
        assertThat(shellText(text.replace('|', '\n'))).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '~',
            delimiter = ';',
            value = {
                "[\"a\"]; a",
                "[ \"a\" , \"b c\" ]; a!b c",
                "[\"a\\\"b\", \"\\u0041\\n\"]; a\"b!A|",
                "[\"\"]; ~~",
                "[\"a\", \\|\"b\"]; a!b",
            })
    void execForm(String text, String expected) {
        var run = (Run) only("RUN " + text.replace('|', '\n'));
        assertThat(run.command())
                .isEqualTo(
                        new CommandLine.Exec(List.of(expected.replace('|', '\n').split("!", -1))));
    }

    @Test
    void lineEndsOfWindowsAreLineEnds() {
        assertThat(shellText("RUN a\r\n")).isEqualTo("a");
        assertThat(shellText("RUN a \\\r\n# x\r\n\r\nb\r\n")).isEqualTo("a b");
    }

    @Test
    void heredocAloneIsTheScriptOfTheShell() {
        assertThat(shellText("RUN <<EOF\necho a\n# kept\n\necho $b \\\nEOF"))
                .isEqualTo("echo a\n# kept\n\necho $b \\\n");
        assertThat(shellText("RUN <<-EOF\n\techo a\n\t\tb\n\tEOF")).isEqualTo("echo a\nb\n");
        assertThat(((Run) only("RUN <<EOF\n#!/usr/bin/env python3\nprint(1)\nEOF")).command())
                .isEqualTo(new CommandLine.Script("#!/usr/bin/env python3\nprint(1)\n"));
    }

    @Test
    void heredocsOfACommandAreForTheShell() {
        assertThat(shellText("RUN cat <<'A' - <<-B >x\r\none\r\nA\r\n\ttwo\r\n\tB\r\n"))
                .isEqualTo("cat <<'A' - <<-B >x\none\nA\n\ttwo\nB\n");
        assertThat(shellText("RUN python3 <<EOF && \\\n  echo ok\nx\nEOF"))
                .isEqualTo("python3 <<EOF &&   echo ok\nx\nEOF\n");
    }

    @Test
    void heredocsAreFilesOfCopyAndAdd() {
        var copy = (Copy) only("COPY <<a.txt <<\"b.txt\" <<-c plain /dir/\none $X\na.txt\ntwo\nb.txt\n\tthree\n\tc");
        assertThat(copy.transfer().files())
                .containsExactly(
                        new InlineFile("a.txt", "one $X\n", true),
                        new InlineFile("b.txt", "two\n", false),
                        new InlineFile("c", "three\n", true));
        assertThat(copy.transfer().sources()).containsExactly(new Source(new Position(2, 29), "plain"));
        assertThat(((Add) only("ADD <<e /e\nx\ne")).transfer().files()).hasSize(1);
    }

    @Test
    void directivesCountAtTheTopOnly() {
        assertThat(parse("# syntax=docker/dockerfile:1\n# escape=`\nFROM a\nRUN a `\n b\n")
                        .escape())
                .isEqualTo('`');
        assertThat(parse("# comment\n# escape=`\nFROM a\n").escape()).isEqualTo('\\');
        assertThat(parse("\n# escape=`\nFROM a\n").escape()).isEqualTo('\\');
        assertThat(parse("# unknown=x\n# escape=`\nFROM a\n").escape()).isEqualTo('\\');
        assertThat(parse("\uFEFF#ESCAPE = ` \r\nFROM a\r\n").escape()).isEqualTo('`');
        assertThat(parse("# check=skip=all\nFROM a").stages()).hasSize(1);
        assertThat(refusal("# escape=x\nFROM a")).startsWith("Dockerfile:1:1: the escape character");
        assertThat(refusal("# escape=`\n# escape=`\nFROM a")).startsWith("Dockerfile:2:1: the directive escape is");
    }

    @Test
    void stagesHaveNamesPlatformsAndPositions() {
        var file = parse("ARG V=1\nFROM --platform=$BUILDPLATFORM a:${V} AS Build\nRUN x\n\n  FROM build\nUSER u\n");
        assertThat(file.arguments()).hasSize(1);
        var first = file.stages().getFirst();
        assertThat(first.name()).isEqualTo("build");
        assertThat(first.base()).isEqualTo("a:${V}");
        assertThat(first.platform()).isEqualTo("$BUILDPLATFORM");
        var second = file.stages().get(1);
        assertThat(second.name()).isNull();
        assertThat(second.label()).isEqualTo("1");
        assertThat(second.at()).isEqualTo(new Position(5, 3));
        assertThat(second.instructions()).containsExactly(new Instruction.User(new Position(6, 1), "u"));
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '~',
            delimiter = ';',
            value = {
                "ENV A=1; A=1",
                "ENV A=1 B=2; A=1,B=2",
                "ENV A=\"x y\" B=x\\ y; A=\"x y\",B=x\\ y",
                "ENV A x y  z; A=x y  z",
                "ENV A b=c; A=b=c",
                "ENV A = 1; A== 1",
                "ENV A=; A=",
                "ENV A='x \"y'; A='x \"y'",
                "LABEL a.b=\"c d\" e=f; a.b=\"c d\",e=f",
                "ARG A; A=null",
                "ARG A=1 B C=\"x y\"; A=1,B=null,C=\"x y\"",
            })
    void assignments(String text, String expected) {
        var assignments = switch (only(text)) {
            case Instruction.Env env -> env.assignments();
            case Instruction.Label label -> label.assignments();
            case Instruction.Arg arg -> arg.assignments();
            default -> List.<Assignment>of();
        };
        assertThat(assignments.stream().map(a -> a.name() + "=" + a.value())).containsExactly(expected.split(","));
    }

    @Test
    void flagsOfCopyAndAdd() {
        var copy = (Copy) only("COPY --from=build --chown=a:b --chmod=u=rwX,go=rX --link --parents=true"
                + " --exclude=*.md --exclude=\"a b\" x y /z/");
        assertThat(copy.from()).isEqualTo("build");
        var transfer = copy.transfer();
        assertThat(transfer.owner()).isEqualTo("a:b");
        assertThat(transfer.mode()).isEqualTo("u=rwX,go=rX");
        assertThat(transfer.link()).isTrue();
        assertThat(transfer.parents()).isTrue();
        assertThat(transfer.excludes()).containsExactly("*.md", "a b");
        assertThat(transfer.sources()).extracting(Source::text).containsExactly("x", "y");
        var add =
                (Add) only("ADD --keep-git-dir=false --unpack --checksum=sha256:" + "a".repeat(64) + " https://x/y /z");
        assertThat(add.transfer().sources().getFirst().isUrl()).isTrue();
        assertThat(add.unpack()).isTrue();
        assertThat(((Copy) only("COPY [\"a b\", \"c\"]")).transfer().destination())
                .isEqualTo("c");
    }

    @Test
    void mountsOfRun() {
        var run = (Run) only("RUN --mount=type=cache,target=/c,sharing=locked,uid=5,mode=0700 "
                + "--mount=type=bind,src=a,dst=/b,from=x,rw --mount=type=secret,id=t,env=TOKEN "
                + "--mount=type=secret,id=u,required --mount=type=tmpfs,target=/t,size=64m --mount=target=/ctx "
                + "--network=none --security=sandbox make");
        assertThat(run.network()).isFalse();
        assertThat(run.mounts())
                .containsExactly(
                        new Mount.Cache(
                                "/c", "/c", Mount.Sharing.LOCKED, null, "/", false, new Mount.Owner(5, 0, 0700)),
                        new Mount.Bind("/b", "a", "x", true),
                        new Mount.Secret("t", "", "TOKEN", false, new Mount.Owner(0, 0, 0400)),
                        new Mount.Secret("u", "/run/secrets/u", null, true, new Mount.Owner(0, 0, 0400)),
                        new Mount.Tmpfs("/t", 64L << 20),
                        new Mount.Bind("/ctx", "/", null, false));
    }

    @Test
    void healthChecks() {
        var check = (Instruction.Healthcheck) only(
                "HEALTHCHECK --interval=1m30s --timeout=500ms --start-period=0 --retries=3 CMD curl -f x || exit 1");
        assertThat(check.command()).isEqualTo(new CommandLine.Shell("curl -f x || exit 1"));
        assertThat(check.timing())
                .isEqualTo(new Instruction.Timing(Duration.ofSeconds(90), Duration.ofMillis(500), null, null, 3));
        assertThat(((Instruction.Healthcheck) only("HEALTHCHECK cmd [\"a\"]")).command())
                .isEqualTo(new CommandLine.Exec(List.of("a")));
        assertThat(((Instruction.Healthcheck) only("HEALTHCHECK NONE")).command())
                .isNull();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "WORKDIR /a b",
                "USER 1000:1000",
                "CMD",
                "CMD []",
                "ENTRYPOINT [\"a\"]",
                "EXPOSE 80 443/tcp 53/udp 8000-8010",
                "VOLUME /a /b",
                "VOLUME [\"/a b\"]",
                "SHELL [\"/bin/bash\", \"-o\", \"pipefail\", \"-c\"]",
                "STOPSIGNAL SIGRTMIN+3",
                "STOPSIGNAL 9",
                "STOPSIGNAL $SIG",
                "MAINTAINER Pat O'Brien <p@example.org>",
                "ADD a.tar.gz /x",
                "COPY --chmod=755 a b",
            })
    void otherInstructions(String text) {
        assertThat(only(text).at()).isEqualTo(new Position(2, 1));
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '~',
            delimiterString = " => ",
            value = {
                "RNU x => 1: unknown instruction RNU; did you mean RUN?",
                "apt-get update => 1: unknown instruction APT-GET; a line that continues",
                "RUN => 1: RUN has no command; write RUN command",
                "RUN [] => 5: RUN has no command; write RUN [",
                "CMD [1] => 6: the JSON array has an element that is no string; put it",
                "CMD [\"a\", true] => 11: the JSON array has an element that is no string; put it",
                "CMD [\"\\u0000\"] => 5: the JSON array has a NUL character; remove it",
                "ONBUILD RUN x => 1: ONBUILD is not supported: no other image is built from this one; write the",
                "RUN --security=insecure x => 5: --security=insecure is not supported: every command runs",
                "RUN --network=host x => 5: --network=host is not supported: sandboxes have a network",
                "RUN --device=gpu x => 5: --device is not supported: sandboxes have no devices",
                "RUN --mount=type=ssh x => 5: mounts of type ssh are not supported: a build reaches no SSH agent; copy",
                "RUN --mount=type=nfs x => 5: --mount has no type nfs; use bind, cache, secret or tmpfs",
                "RUN --mount=type=cache x => 5: a mount of type cache has no target; add target=/path",
                "RUN --mount=type=cache,targt=/x x => 5: a mount of type cache has no targt; did you mean target?",
                "RUN --mount=type=cache,target=/x,sharing=all x => 5: the sharing of a cache is unknown; use",
                "RUN --mount=type=bind,target=/x,from=$A x => 5: from of a mount takes no variables; add a stage",
                "RUN --mount=type=tmpfs,target=/x,size=9999999999t x => 5: size of a mount is no size: 9999999999t; write",
                "RUN --mount=target=/x,target=/y x => 5: target is given twice in --mount; keep one",
                "RUN --net=none x => 5: RUN has no flag --net; it has --device, --mount, --network, --security",
                "COPY --form=a b c => 6: COPY has no flag --form; did you mean --from?",
                "COPY --from=a --from=b c d => 15: --from is given twice; keep one",
                "COPY --from=$A b c => 6: --from takes no variables; add a stage",
                "COPY --link=maybe a b => 6: --link is neither true nor false; write --link or leave it out",
                "COPY --chown a b => 6: --chown has no value; write --chown=VALUE",
                "COPY --chmod=999 a b => 1: --chmod=999 is no mode; write --chmod=755",
                "COPY a => 1: COPY needs a source and a destination; write COPY source destination",
                "ADD git@github.com:a/b.git /x => 5: ADD of a Git repository is not supported; use RUN git clone",
                "ADD https://github.com/a/b.git#v1 /x => 5: ADD of a Git repository is not supported; use RUN git",
                "ADD --checksum=sha256:12 https://x/y /z => 1: --checksum needs one URL and a value like sha256:…; write",
                "ENV => 1: ENV has no value; write ENV NAME=value",
                "ENV A => 5: A has no value; write NAME=value",
                "ENV A=1 B => 9: B has no =; write NAME=value",
                "ENV =1 => 5: = without a name; write NAME=value",
                "ENV A=\"x => 7: a double quote is not closed; add the closing quote",
                "ENV A='x => 7: a single quote is not closed; add the closing quote",
                "ENV A=${B => 7: ${ without its }; write ${NAME}",
                "ENV A=${ => 7: ${ without a name; write ${NAME}",
                "ENV A=${B^^} => 7: ${B^ is not an expression that Docker knows; use",
                "ENV A=${B:=x} => 7: ${B:= is not an expression that Docker knows; use",
                "ENV A=${B#\\a} => 7: the pattern \\a has a backslash before something",
                "WORKDIR => 1: WORKDIR has no value; write WORKDIR /app",
                "WORKDIR C:\\\\app => 9: a path of Windows; write a path like /app",
                "EXPOSE 70000 => 1: 70000 is no port; write EXPOSE 8080",
                "EXPOSE http => 1: http is no port; write EXPOSE 8080",
                "STOPSIGNAL a b => 12: a b is no signal; write STOPSIGNAL SIGTERM",
                "SHELL /bin/bash => 1: SHELL takes a JSON array; write SHELL",
                "HEALTHCHECK => 12: HEALTHCHECK has no check; write",
                "HEALTHCHECK --interval=x CMD a => 13: --interval is no duration of at least 1ms: x; write",
                "HEALTHCHECK --retries=-1 CMD a => 13: --retries is no number: -1; write",
                "FROM => 1: FROM takes an image and at most a name; write FROM image",
                "FROM a b => 1: FROM takes an image and at most a name; write FROM image",
                "FROM a AS 1b => 11: 1b cannot name a stage; use a letter",
                "FROM --platform=windows/amd64 a => 6: images of Windows are not supported; use an image of Linux",
                "USER --x => 6: USER has no flag --x; it has no flags",
            })
    void refusals(String text, String expected) {
        String message = refusal("FROM a\n" + text);
        assertThat(message).startsWith("Dockerfile:2:" + expected);
    }

    @Test
    void refusesFilesWithoutStages() {
        assertThat(refusal("")).isEqualTo("Dockerfile:1:1: the file has no FROM; begin it with FROM image");
        assertThat(refusal("# x\n\n")).contains("no FROM");
        assertThat(refusal("RUN x\nFROM a")).startsWith("Dockerfile:1:1: RUN before the first FROM");
        assertThat(refusal("FROM a AS x\nFROM b AS X")).startsWith("Dockerfile:2:1: the stage x exists already");
    }

    @Test
    void showsAllProblemsInOrderWithTheColumnOfContinuedLines() {
        assertThat(refusal("FROM a\nRNU x\nRUN a\nENV A=1 \\\n  # why\n  B\nFRM b\n")
                        .lines())
                .containsExactly(
                        "Dockerfile:2:1: unknown instruction RNU; did you mean RUN?",
                        "Dockerfile:6:3: B has no =; write NAME=value, and quotes around a value with spaces",
                        "Dockerfile:7:1: unknown instruction FRM; did you mean FROM?");
    }
}
