package dev.cay.dockerfile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.cay.dockerfile.Instruction.Source;
import dev.cay.dockerfile.Instruction.Transfer;
import dev.cay.dockerfile.Selection.Entry;
import dev.cay.dockerfile.Selection.Kind;
import dev.cay.testing.Fast;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// `.dockerignore`, the files that sources select, their hash and their archive.
@Fast
final class DockerfileContextTest {
    @TempDir
    private Path directory = Path.of("unset");

    private Path root = Path.of("unset");

    @BeforeEach
    void files() throws IOException {
        root = Files.createDirectory(directory.resolve("context"));
        write("package.json", "{}");
        write("a.txt", "a");
        write("b.txt", "b");
        write(".env", "secret");
        write("src/main.py", "print(1)");
        write("src/lib/util.py", "x");
        write("src/lib/util.pyc", "y");
        write("docs/a.md", "a");
        write("docs/keep/b.md", "b");
        Files.createDirectory(root.resolve("empty"));
        Files.createSymbolicLink(root.resolve("src/link"), Path.of("main.py"));
        Files.createSymbolicLink(root.resolve("src/out"), Path.of("/etc/passwd"));
        Files.createSymbolicLink(root.resolve("current"), Path.of("src/lib"));
    }

    private void write(String name, String content) throws IOException {
        var file = root.resolve(name);
        Files.createDirectories(file.getParent());
        Files.writeString(file, content);
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '~',
            delimiterString = " => ",
            value = {
                "a => a => true",
                "a => a/b/c => true",
                "a => b/a => false",
                "/a => a => true",
                "a/ => a => true",
                "./a//b => a/b => true",
                "*.md => x.md => true",
                "*.md => d/x.md => false",
                "*/*.md => d/x.md => true",
                "*/temp* => d/temporary/x => true",
                "temp? => tempa => true",
                "temp? => temp => false",
                "**/*.go => x.go => true",
                "**/*.go => a/b/x.go => true",
                "**/x => ax => false",
                "** => a/b => true",
                "a/** => a/b/c => true",
                "a/** => a => false",
                "a/**/z => a/z => true",
                "a/**/z => a/b/c/z => true",
                "a/**/z => abz => false",
                "**.txt => d/x.txt => true",
                "[a-c]x => bx => true",
                "[^a-c]x => bx => false",
                "\\*x => *x => true",
                "\\*x => ax => false",
                "*|!b => a => true",
                "*|!b => b => false",
                "!b|* => b => true",
                "*.md|!README*.md|README-secret.md => README.md => false",
                "*.md|!README*.md|README-secret.md => README-secret.md => true",
                "*.md|README-secret.md|!README*.md => README-secret.md => false",
                "a|!a/b => a/b/c => false",
                "a|!a/b => a/c => true",
                "a|!a/b|a/b/c => a/b/c => true",
                "# a => a => false",
                "  a   => a => true",
                "a|| => a => true",
                "../a => a => false",
                "a/../b => b => true",
                "ä*  => äö => true",
            })
    void ignoreRules(String rules, String path, boolean ignored) {
        assertThat(IgnoreRules.parse(rules.replace('|', '\n')).ignores(path, false))
                .isEqualTo(ignored);
    }

    @Test
    void onlyTheFirstCharacterMakesAComment() {
        assertThat(IgnoreRules.parse(" # a").ignores("# a", false)).isTrue();
        assertThat(IgnoreRules.parse("# a").ignores("# a", false)).isFalse();
    }

    @Test
    void aDirectoryWithExceptionsBelowIsNotIgnored() {
        var rules = IgnoreRules.parse("\uFEFFa\r\nb\r\n!a/x/y\r\n!**/keep\r\n");
        assertThat(rules.ignores("a", true)).isFalse();
        assertThat(rules.ignores("a", false)).isTrue();
        assertThat(IgnoreRules.parse("a\nb\n!a/x/y").ignores("b", true)).isTrue();
        assertThat(IgnoreRules.parse("a\n!a/x/y").ignores("a/z", true)).isTrue();
    }

    @Test
    void malformedRulesAreShownTogether() {
        var refused = catchThrowableOfType(DockerfileException.class, () -> IgnoreRules.parse("a\n[x\n !\nb\\\n"));
        assertThat(String.valueOf(refused.getMessage()).lines())
                .containsExactly(
                        ".dockerignore:2:1: the pattern [x has [ without ]; correct the pattern",
                        ".dockerignore:3:2: ! without a pattern; write !pattern, or remove the line",
                        ".dockerignore:4:1: the pattern b\\ ends with a backslash; correct the pattern");
    }

    @Test
    void theRulesBesideADockerfileWin() throws IOException {
        write(".dockerignore", "a.txt");
        assertThat(IgnoreRules.load(root, root.resolve("Dockerfile")).ignores("a.txt", false))
                .isTrue();
        write("Dockerfile.dockerignore", "b.txt");
        assertThat(IgnoreRules.load(root, root.resolve("Dockerfile")).ignores("a.txt", false))
                .isFalse();
        Files.delete(root.resolve(".dockerignore"));
        assertThat(IgnoreRules.load(root, root.resolve("Other")).ignores("b.txt", false))
                .isFalse();
    }

    private Selection select(String ignore, List<String> excludes, boolean parents, String... sources)
            throws IOException {
        var list = new ArrayList<Source>();
        for (String source : sources) {
            list.add(new Source(new Position(3, 6 + list.size()), source));
        }
        var transfer = new Transfer(list, List.of(), "/x/", null, null, excludes, false, parents);
        return BuildContext.of(root, IgnoreRules.parse(ignore)).select(transfer, "Dockerfile", new Position(3, 1));
    }

    private Selection select(String ignore, String... sources) throws IOException {
        return select(ignore, List.of(), false, sources);
    }

    private static String paths(Selection selection) {
        return String.join(" ", selection.entries().stream().map(Entry::path).toList());
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '~',
            delimiterString = " => ",
            value = {
                "a.txt => ~~ => a.txt",
                "/a.txt => ~~ => a.txt",
                "./src/../a.txt => ~~ => a.txt",
                "*.txt => ~~ => a.txt b.txt",
                "[b-z].txt => ~~ => b.txt",
                "?.txt => a.txt => b.txt",
                "* => **|!*.txt => a.txt b.txt",
                "* => **|!**/*.md => docs docs/a.md docs/keep docs/keep/b.md",
                "src/*.py => ~~ => src/main.py",
                "*/*.py => ~~ => src/main.py",
                "src/lib => ~~ => src/lib src/lib/util.py src/lib/util.pyc",
                "src/lib/ => **/*.pyc => src/lib src/lib/util.py",
                "docs => docs|!docs/keep => docs docs/keep docs/keep/b.md",
                "docs => docs/** => docs",
                "empty => ~~ => empty",
                ". => *|!src/lib => src src/lib src/lib/util.py src/lib/util.pyc",
                "src => src/lib => src src/link src/main.py src/out",
                "current => ~~ => current current/util.py current/util.pyc",
                "current/util.py => ~~ => current/util.py",
                "src/link => ~~ => src/link",
            })
    void selects(String source, String ignore, String expected) throws IOException {
        assertThat(paths(select(ignore.replace('|', '\n'), source))).isEqualTo(expected);
    }

    @Test
    void aSourceThatIsALinkIsFollowedAndLinksBelowAreKept() throws IOException {
        assertThat(select("", "src/link").entries().getFirst().kind()).isEqualTo(Kind.FILE);
        var below = select("", "src").entries().stream()
                .filter(entry -> entry.kind() == Kind.LINK)
                .map(entry -> entry.path() + ">" + entry.link());
        assertThat(below).containsExactly("src/link>main.py", "src/out>/etc/passwd");
    }

    @Test
    void patternsMayMatchNothingBesideAnotherSource() throws IOException {
        assertThat(paths(select("", "package.json", "package-lock.json*"))).isEqualTo("package.json");
    }

    @Test
    void excludesAreRelativeToTheSource() throws IOException {
        assertThat(paths(select("", List.of("lib", "link", "out"), false, "src")))
                .isEqualTo("src src/main.py");
        assertThat(paths(select("", List.of("a.*"), false, "a.txt", "b.txt"))).isEqualTo("b.txt");
        assertThat(paths(select("", List.of("**/*.md", "!keep/b.md"), false, "docs")))
                .isEqualTo("docs docs/keep docs/keep/b.md");
    }

    @Test
    void parentsAllowAnyNumberOfDirectories() throws IOException {
        assertThat(paths(select("", List.of(), true, "**/*.py"))).isEqualTo("src/lib/util.py src/main.py");
        assertThat(select("", List.of(), true, "src/./lib").sources().getFirst().parent())
                .isEqualTo("src");
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '~',
            delimiterString = " => ",
            value = {
                "../x => ~~ => ../x is outside of the build context; copy the file",
                "a/../../x => ~~ => a/../../x is outside of the build context; copy the file",
                "aa.txt => ~~ => aa.txt is not in the build context; did you mean a.txt?",
                "src/mian.py => ~~ => src/mian.py is not in the build context; did you mean main.py?",
                "nothing/at/all => ~~ => nothing/at/all is not in the build context; paths are relative",
                "a.txt => b|*.txt => a.txt is ignored by .dockerignore:2: *.txt; add !a.txt to that file",
                "src => src|!**/x => src is ignored by .dockerignore:1: src; add !src to that file",
                "src/out => ~~ => src/out is a link that leads out of the build context; copy the file",
                "*.nothing => ~~ => no file of the context matches *.nothing; check the pattern",
                "[a => ~~ => the pattern [a has [ without ]; correct the pattern",
            })
    void refusals(String source, String ignore, String expected) {
        var refused = catchThrowableOfType(DockerfileException.class, () -> select(ignore.replace('|', '\n'), source));
        assertThat(refused.getMessage()).startsWith("Dockerfile:3:6: " + expected);
    }

    /// Who builds on a server must not learn which files the server has.
    @Test
    void aLinkThatLeadsOutIsRefusedTheSameWhetherOrNotSomethingIsThere() throws IOException {
        Files.createSymbolicLink(root.resolve("to-nothing"), Path.of("/no/such/file"));
        Files.createSymbolicLink(root.resolve("hop"), Path.of("src/../to-nothing"));
        Files.createSymbolicLink(root.resolve("top"), Path.of("/"));
        Files.createSymbolicLink(root.resolve("through"), Path.of("top/no/such/file"));
        Files.createSymbolicLink(root.resolve("round"), Path.of("round"));
        for (String name : List.of("src/out", "to-nothing", "hop", "through", "round")) {
            var refused = catchThrowableOfType(DockerfileException.class, () -> select("", name));
            assertThat(refused.getMessage()).contains(name + " is a link that leads out of the build context");
        }
    }

    @Test
    void theHashCountsNamesModesAndContentsOnly() throws IOException {
        String before = select("", "src").hash();
        Files.setLastModifiedTime(root.resolve("src/main.py"), FileTime.from(Instant.EPOCH));
        assertThat(select("", "src").hash()).isEqualTo(before);
        Files.setPosixFilePermissions(root.resolve("src/main.py"), PosixFilePermissions.fromString("rwxr-xr-x"));
        String executable = select("", "src").hash();
        assertThat(executable).isNotEqualTo(before);
        write("src/main.py", "print(2)");
        String changed = select("", "src").hash();
        assertThat(changed).isNotEqualTo(executable);
        Files.move(root.resolve("src/main.py"), root.resolve("src/other.py"));
        assertThat(select("", "src").hash()).isNotEqualTo(changed);
    }

    @Test
    void theArchiveIsReadByTar() throws IOException, InterruptedException {
        String longName = "src/" + "n".repeat(120) + "/ü" + "m".repeat(90);
        write(longName, "x".repeat(1000));
        Files.createSymbolicLink(root.resolve("src/long"), Path.of("t".repeat(150)));
        Files.setPosixFilePermissions(root.resolve("src/main.py"), PosixFilePermissions.fromString("rwxr-x---"));
        Files.setLastModifiedTime(root.resolve("src/main.py"), FileTime.from(Instant.parse("2001-02-03T04:05:06Z")));
        var archive = directory.resolve("a.tar");
        try (var out = Files.newOutputStream(archive)) {
            select("", "src", "empty").writeTar(out);
        }
        assertThat(tar("-tf", archive.toString()))
                .contains("empty/", "src/", "src/lib/util.py", "src/main.py", longName)
                .hasSize(11);
        assertThat(tar("--utc", "--full-time", "--numeric-owner", "-tvf", archive.toString()))
                .anyMatch(line -> line.matches("-rwxr-x--- 0/0 +8 2001-02-03 04:05:06 src/main.py"))
                .anyMatch(line -> line.endsWith("src/out -> /etc/passwd"))
                .anyMatch(line -> line.endsWith("src/long -> " + "t".repeat(150)));
        var unpacked = Files.createDirectory(directory.resolve("unpacked"));
        tar("-xf", archive.toString(), "-C", unpacked.toString());
        assertThat(Files.readString(unpacked.resolve(longName))).isEqualTo("x".repeat(1000));
    }

    private static List<String> tar(String... arguments) throws IOException, InterruptedException {
        var command = new ArrayList<>(List.of("tar"));
        command.addAll(List.of(arguments));
        var builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().put("LC_ALL", "C.UTF-8");
        var process = builder.start();
        var lines = process.inputReader().lines().toList();
        assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
        assertThat(process.exitValue()).as(String.join("\n", lines)).isZero();
        return lines;
    }
}
