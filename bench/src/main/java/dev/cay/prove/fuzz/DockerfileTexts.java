package dev.cay.prove.fuzz;

import java.nio.charset.StandardCharsets;
import java.util.List;

/// Dockerfiles and ignore files: made by the grammar, and then mostly broken.
final class DockerfileTexts {
    private static final Mutator MUTATOR = Mutator.of(
            "FROM ",
            "RUN ",
            "COPY ",
            "ADD ",
            "ENV ",
            "ARG ",
            "\n",
            "\\\n",
            "`\n",
            "\r\n",
            "\r",
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
            "--parents ",
            "--",
            "cache,",
            "target=/x,",
            "NONE",
            "AS ",
            "scratch",
            "# escape=`\n",
            "# syntax=x\n",
            "#",
            "ü",
            "\uD83D\uDE00",
            "\uFEFF",
            "\u2028",
            "\u0085",
            "\u00a0",
            "*",
            "**",
            "?",
            "!",
            "/",
            "..",
            "/./",
            "\\u0000",
            "\0",
            "${A:-${B:-");

    private static final Words NAMES = words("A B C PATH TARGETARCH HTTP_PROXY a_1", "0 @ Ü A-B");
    private static final Words PATHS = words(
            "a b.txt dir dir/ dir/deep dir/* * *.txt ? [a-c] [^a] \\[x\\] . ./ / link dirlink dirlink/d.txt dir/./deep/er"
                    + " ./dir/./deep ü /dir /a",
            "** [x] [ .. ../outside ../outside/secret /../../outside out outdir outdir/secret absolute broken loop pipe dir/../.."
                    + " dir/up dir/up/secret **/d.txt none $A ${A}/x https://127.0.0.1/x git@host:x");
    private static final Words COPY_FLAGS = words(
            "--chown=1:2 --chmod=755 --chmod=u+x --link --parents --exclude=*.txt --exclude=!d --exclude=dir",
            "--from=0 --from=one --from=9 --from=scratch --from=image:1 --chmod=99999 --link=no --exclude=[ --checksum=sha256:00"
                    + " --keep-git-dir --unpack=true --none");
    private static final Words RUN_FLAGS = words(
            "--network=none --mount=type=cache,target=/c --mount=type=tmpfs,target=/t,size=1g --mount=target=/m,source=dir,rw",
            "--mount=type=bind,from=one,source=/,target=/m --mount=target=.,source=.. --mount=type=secret,id=s,required"
                    + " --mount=type=ssh --mount= --security=x --network --mount=type=cache,target=/c,uid=99999999999");
    private static final Words HEALTH_FLAGS = words(
            "--interval=1s --timeout=1h2m3.5s --retries=3", "--retries=99999999999 --start-period=-1s --interval=x");
    private static final Words FROM_FLAGS =
            words("--platform=linux/amd64 --platform=$TARGETPLATFORM", "--platform=windows/amd64 --platform= --none");

    /// Texts of one kind.
    ///
    /// @param plain those that are right nearly everywhere
    /// @param odd   those that are mostly wrong
    private record Words(List<String> plain, List<String> odd) {}

    private static Words words(String plain, String odd) {
        return new Words(List.of(plain.split(" ")), List.of(odd.split(" ")));
    }

    private final Dice dice;
    /// One word in so many is odd. Files with many are refused early, so most have few.
    private final int oddity;

    private int stages;

    DockerfileTexts(Dice dice) {
        this.dice = dice;
        this.oddity = dice.pick(3, 40, 1000, 1000);
    }

    private String pick(Words words) {
        return dice.pick(dice.oneIn(oddity) ? words.odd() : words.plain());
    }

    private String pick(String plain, String odd) {
        return dice.oneIn(oddity) ? odd : plain;
    }

    String dockerfile() {
        var text = new StringBuilder();
        for (int i = dice.below(3); i > 0; i--) {
            text.append(pick(
                    dice.pick("# a comment\n", "\n"),
                    dice.pick("# escape=`\n", "# escape=\\\n", "# syntax=x\n", "\uFEFF")));
        }
        for (int i = dice.below(3); i > 0; i--) {
            line(text, "ARG " + assignment());
        }
        for (int left = 1 + dice.size(4); left > 0; left--) {
            line(text, from());
            for (int i = dice.size(12); i > 0; i--) {
                line(text, instruction());
            }
        }
        return perhapsBroken(text.toString());
    }

    String ignoreRules() {
        var text = new StringBuilder();
        for (int i = dice.size(12); i > 0; i--) {
            text.append(dice.pick("", "!", "# ", " ", "\t", "/"))
                    .append(pick(
                            dice.pick("none", "*/x", "dir/deep/**", "!dir", "**/e", "[x]"),
                            pick(pattern(), pick(PATHS))))
                    .append(dice.pick("\n", "\n", "\r\n", "\r"));
        }
        return oddity < 40 ? broken(text.toString()) : text.toString();
    }

    private String pattern() {
        var pattern = new StringBuilder();
        for (int i = 1 + dice.size(60); i > 0; i--) {
            pattern.append(dice.pick("*", "**", "?", "[", "]", "[^", "a-", "b", "/", "\\", "..", "ü", "*a"));
        }
        return pattern.toString();
    }

    private String perhapsBroken(String text) {
        String whole = dice.oneIn(6) ? text.replace("\n", "\r\n") : text;
        return oddity < 1000 ? broken(whole) : whole;
    }

    private String broken(String text) {
        return new String(MUTATOR.mutate(dice, text.getBytes(StandardCharsets.UTF_8)), StandardCharsets.UTF_8);
    }

    private void line(StringBuilder text, String line) {
        text.append(dice.oneIn(8) ? "  " : "");
        boolean goesOn = dice.oneIn(5) && line.indexOf('\n') < 0;
        text.append(goesOn ? line.replaceFirst(" ", dice.pick(" \\\\\n", " \\\\\n# why\n", "\t")) : line);
        text.append(dice.oneIn(10) ? "\n\n" : "\n");
    }

    private String from() {
        String image = pick(
                dice.pick("debian:12", "scratch", "one", "two", "${C:-debian}"),
                dice.pick("$B", "${B:?no}", "127.0.0.1:1/x@sha256:0", "ONE", "${A"));
        String name = stages < 2 ? List.of("", " AS one", " as two").get(++stages) : "";
        return "FROM %s%s%s".formatted(flags(FROM_FLAGS, 1), image, pick(name, dice.pick(" AS one", " AS 0", " IS x")));
    }

    private String instruction() {
        return switch (dice.below(16)) {
            case 0 -> "RUN " + flags(RUN_FLAGS, 2) + command();
            case 1 -> "RUN " + flags(RUN_FLAGS, 1) + heredoc();
            case 2, 3, 4 -> "COPY " + flags(COPY_FLAGS, 3) + paths() + "/x/";
            case 5 ->
                "COPY "
                        + dice.pick(
                                "<<one <<two /d/\nx $A\none\ny\ntwo", "<<-'one' /d\n\tx\n\tone", "<<\"o\" a /d/\no");
            case 6 -> "ADD " + flags(COPY_FLAGS, 1) + paths() + pick("/x/", pick(PATHS));
            case 7 -> "ENV " + assignment() + " " + assignment();
            case 8 -> "ENV " + pick(NAMES) + " " + value();
            case 9 -> "ARG " + dice.pick(assignment(), pick(NAMES));
            case 10 -> "LABEL " + assignment();
            case 11 -> "WORKDIR " + pick(PATHS);
            case 12 -> "USER " + pick("1000", dice.pick("a:b", "$A", ":", "\"\""));
            case 13 -> "EXPOSE " + pick("80/tcp 90-99/udp", dice.pick("$A", "99999999999", "9-1", "80/"));
            case 14 ->
                dice.pick("CMD ", "ENTRYPOINT ", pick("CMD ", dice.pick("SHELL ", "VOLUME ", "STOPSIGNAL ")))
                        + command();
            default ->
                pick(
                        "HEALTHCHECK " + flags(HEALTH_FLAGS, 3) + "CMD " + command(),
                        dice.pick(
                                "HEALTHCHECK NONE",
                                "ONBUILD RUN x",
                                "MAINTAINER me",
                                "RNU x",
                                "FROM",
                                "COPY x",
                                "SHELL x"));
        };
    }

    private String flags(Words known, int most) {
        var flags = new StringBuilder();
        for (int i = dice.below(most + 1); i > 0; i--) {
            String flag = pick(known);
            // A flag may be given once only.
            boolean again = flags.indexOf(flag.substring(0, Math.min(5, flag.length()))) >= 0;
            flags.append(again ? "" : flag + " ");
        }
        return flags.toString();
    }

    private String paths() {
        var paths = new StringBuilder(pick(PATHS));
        for (int i = dice.size(6); i > 0; i--) {
            paths.append(' ').append(pick(PATHS));
        }
        return dice.oneIn(6) ? paths + " \"with space\" " : paths + " ";
    }

    private String command() {
        return pick(
                dice.pick("true", "echo $A \"${B}\" '$A'", "[\"/bin/x\", \"$A\"]", "a \\\n  && b"),
                dice.pick("[\"a\",", "[]", "[1]", "[\"\\u0000\"]", ""));
    }

    private String heredoc() {
        return pick(
                dice.pick("<<EOF\na $A\nEOF", "<<-'EOF' <<X\n\tx\n\tEOF\ny\nX", "<<\"E\" cat\nE", "3<<A sh\nA"),
                "<<EOF\nno end");
    }

    private String assignment() {
        return pick(NAMES) + "=" + value();
    }

    private String value() {
        String expansion = expansion(dice.size(pick("8", "70").equals("8") ? 8 : 70));
        return switch (dice.below(4)) {
            case 0 -> expansion;
            case 1 -> "\"" + expansion + "\"";
            default ->
                pick(dice.pick("x", "\"a b\"", "'$A'", "a\\ b", "y"), dice.pick("\"", "'", "$", "\\", "${", "${A:"));
        };
    }

    private String expansion(int depth) {
        String name = pick(NAMES);
        String rest = depth > 0 ? expansion(depth - 1) : dice.pick("x", "*", "?a*", "y");
        return switch (dice.below(5)) {
            case 0 -> "$" + name;
            case 1 -> "${" + name + pick(dice.pick(":-", "-", ":+", "+"), dice.pick(":?", "?", ":", "!")) + rest + "}";
            case 2 -> "${" + name + dice.pick("#", "##", "%", "%%") + rest + "}";
            case 3 -> "${" + name + dice.pick("/", "//") + rest.replace("/", "") + "/" + dice.pick("y", "$A", "") + "}";
            default -> rest + "$" + name + pick("", rest);
        };
    }
}
