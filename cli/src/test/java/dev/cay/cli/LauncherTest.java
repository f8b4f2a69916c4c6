package dev.cay.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import dev.cay.testing.NeedsRoot;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The launcher's functions, each called in a bash that has read the script but not run it.
@Fast
final class LauncherTest {
    private static final Path LAUNCHER = Path.of("..", "cay").toAbsolutePath().normalize();

    @TempDir
    private Path directory = Path.of("unset");

    @Test
    void helpWorksFromAnywhereAndThroughALinkAndNamesEveryCommand() throws Exception {
        Path link = Files.createSymbolicLink(directory.resolve("kay"), LAUNCHER);
        String help = run(directory, Map.of(), link.toString());
        for (var command : Main.commandLine().getSubcommands().entrySet()) {
            if (!command.getValue().getCommandSpec().usageMessage().hidden()) {
                assertThat(help).contains("\n  " + command.getKey() + " ");
            }
        }
    }

    @Test
    void aStrictUmaskOfAnOperatorIsNotThatOfCay() throws Exception {
        String text = "umask 077; source '%s'; umask".formatted(LAUNCHER);
        assertThat(run(directory, Map.of(), "bash", "-c", text)).isEqualTo("0022");
    }

    @Test
    void aJdkIsJudgedByWhatItAnswersNotByItsName() throws Exception {
        fakeJdk("java-25-openjdk", "17.0.1");
        Path right = fakeJdk("something-else", "25.0.3");
        fakeJdk("zz-newer", "26");
        assertThat(script("find_jdk '%s'/*".formatted(directory))).isEqualTo(right.toString());
    }

    @Test
    void javaHomeComesFirstIfItFits() throws Exception {
        fakeJdk("a", "25.0.3");
        Path mine = fakeJdk("b", "25");
        Path old = fakeJdk("c", "21.0.1");
        String search = "find_jdk '%s'/*".formatted(directory);
        assertThat(script(search, Map.of("JAVA_HOME", mine.toString()))).isEqualTo(mine.toString());
        assertThat(script(search, Map.of("JAVA_HOME", old.toString()))).isEqualTo(directory + "/a");
    }

    @Test
    void withoutAJdkNothingIsFound() throws Exception {
        fakeJdk("old", "17.0.1");
        assertThat(script("find_jdk '%s'/* || echo none".formatted(directory))).isEqualTo("none");
    }

    @Test
    void onlyWhatIsMissingWouldBeInstalled() throws Exception {
        assertThat(script("""
                printf 'shell sh\\nnothere no-such-program-here\\nfiles /etc/pass*\\nlibrary /usr/lib/*/libnothere.so\\n' |
                    missing_packages""")).isEqualTo("nothere\nlibrary");
    }

    @Test
    void proxiesAreToldToJavaInItsOwnWords() throws Exception {
        assertThat(script(
                        "read_proxies; printf '%s\\n' \"${proxy_options[@]}\"",
                        Map.of(
                                "http_proxy", "http://user:word@proxy.example:3128/",
                                "https_proxy", "proxy2.example:8080",
                                "no_proxy", "localhost,.example.org")))
                .contains(
                        "-Dhttp.proxyHost=proxy.example\n-Dhttp.proxyPort=3128\n",
                        "-Dhttps.proxyHost=proxy2.example\n-Dhttps.proxyPort=8080\n",
                        "-Dhttp.nonProxyHosts=localhost|*.example.org");
    }

    @Test
    void namesWhatWasNotThereBefore() throws Exception {
        assertThat(script("""
                host_state() { printf 'mount /old\\nmount /new\\n'; }
                leftovers 'mount /old'""")).isEqualTo("mount /new");
    }

    @Test
    void whatAnotherCayHasIsNotLeftBehind() throws Exception {
        Files.writeString(directory.resolve("host.json"), """
                {
                  "settings" : { },
                  "instances" : {
                    "0" : {
                      "instance" : "0",
                      "pid" : 41,
                      "stateDir" : "/var/lib/cay",
                      "runDir" : "/run/cay",
                      "range" : "10.200.0.0/16",
                      "listen" : [ "127.0.0.1" ]
                    }
                  },
                  "reservations" : {
                    "tmine" : {
                      "claim" : {
                        "instance" : "tmine",
                        "pid" : 42,
                        "stateDir" : "/tmp/cay-abc/cay-own-1/state",
                        "runDir" : "/tmp/cay-abc/cay-own-1/run",
                        "range" : "10.201.7.0/24"
                      },
                      "keeper" : "42-7",
                      "run" : "9-9"
                    }
                  }
                }
                """);
        String mine = """
                address 10.201.7.1/32 on lo
                cgroup /sys/fs/cgroup/cay-tmine/x
                link caytmine-0
                mount /tmp/cay-abc/cay-own-1/state/pool
                mount /var/lib/cay2
                nft table inet cay_tmine
                process 42 java
                process 44 cay-guest of tmine""";
        String others = """
                address 10.200.0.1/32 on lo
                cgroup /sys/fs/cgroup/cay-0
                cgroup /sys/fs/cgroup/cay-0/y
                link cay0-0
                loop device of /var/lib/cay/pool.btrfs
                mount /tmp/junit-7/pool
                mount /var/lib/cay/pool
                nft table inet cay_0
                process 41 java
                process 43 cay-guest of 0
                setting kernel/pid_max = 4194304""";
        assertThat(script("""
                ledger='%s' run_directory=/tmp/cay-abc _CAY_TEST_RUN=9-9
                host_state() { printf '%%s\\n' '%s' '%s'; }
                leftovers ''""".formatted(directory, mine, others))).isEqualTo(mine);
    }

    @Test
    void aKilledRunIsKnownByItsProcess() throws Exception {
        Files.createDirectory(directory.resolve("runs"));
        String ask = "ledger='%s'; has_dead_tests && echo dead || echo fine".formatted(directory);
        assertThat(script(ask)).isEqualTo("fine");
        String self = "touch \"$ledger/runs/$(process_name $$)\"; has_dead_tests && echo dead || echo fine";
        assertThat(script("ledger='%s'; %s".formatted(directory, self))).isEqualTo("fine");
        assertThat(script(ask)).as("that bash is gone").isEqualTo("dead");
    }

    @Test
    @NeedsRoot
    void seesAProcessThatWasLeftBehind() throws Exception {
        Path program = directory.resolve("cay-left");
        Files.copy(Path.of("/bin/sleep"), program);
        Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwx------"));
        var process = new ProcessBuilder(program.toString(), "60").start();
        try {
            assertThat(script("host_state")).contains("process %d cay-left".formatted(process.pid()));
        } finally {
            process.destroyForcibly().waitFor();
        }
    }

    @Test
    void aChangeInASourceIsSeenAndOneInATestIsNot() throws Exception {
        Path main = Files.createDirectories(directory.resolve("kit/src/main/java"));
        Path test = Files.createDirectories(directory.resolve("kit/src/test/java"));
        Files.writeString(main.resolve("A.java"), "a");
        Files.writeString(test.resolve("ATest.java"), "a");
        String hash = "home='%s'; jdk=x; source_hash".formatted(directory);
        String before = script(hash);
        Files.writeString(test.resolve("ATest.java"), "b");
        Files.writeString(Files.createDirectory(directory.resolve("launcher")).resolve("tests.sh"), "b");
        assertThat(script(hash)).isEqualTo(before);
        Files.writeString(main.resolve("A.java"), "b");
        assertThat(script(hash)).isNotEqualTo(before);
    }

    @Test
    void aBuildTellsItsModulesLineByLine() throws Exception {
        assertThat(build("on_terminal() { false; }", "exit 0"))
                .containsSubsequence(
                        "building Cay",
                        "\n  module 1 of 2, cay-wire (",
                        " s)\n  module 2 of 2, cay-cli (",
                        "\npreparing fast starts (",
                        "\nbuilt in ")
                .doesNotContain("\r", "downloading");
    }

    @Test
    void onATerminalABuildKeepsToOneLineThatShowsTheTime() throws Exception {
        // Waits for the second that only the clock brings.
        String said = build("on_terminal() { true; }", "sleep 2.5");
        assertThat(said)
                .containsSubsequence("\r\033[K  module 1 of 2, cay-wire (0 s)", "\r\033[K  module 2 of 2, cay-cli (")
                .containsPattern("\r\033\\[K  module 2 of 2, cay-cli \\([1-9]\\d* s\\)")
                .doesNotContain("\n  module");
    }

    @Test
    void aBuildForUsersLeavesDevelopersChecksOut() throws Exception {
        build("", "exit 0");
        assertThat(Files.readString(directory.resolve("arguments"))).contains(" -Dcay.plain ");
        String pom = Files.readString(LAUNCHER.resolveSibling("pom.xml"));
        assertThat(pom.substring(pom.indexOf("<id>plain</id>")))
                .contains("<name>cay.plain</name>", "<compilerArgs combine.self=\"override\">")
                .doesNotContain("ErrorProne", "error_prone_core");
    }

    @Test
    void aBuildThatFailsSaysWhyAndWhereTheRestIs() throws Exception {
        assertThat(build("", "echo '[ERROR] A.java: no such symbol'; exit 1"))
                .contains("[ERROR] A.java: no such symbol", "the build failed; all of it is in")
                .doesNotContain("built in");
    }

    @Test
    void theSdkIsInstalledWithTheRightJdkWhereTheUsersMavenLooks() throws Exception {
        String said = script("""
                repository_options=(-Dmaven.repo.local=/elsewhere)
                choose_jdk() { jdk=/the/jdk; }
                choose_maven() { maven=false; }
                run_maven() { echo "$jdk: ${repository_options[*]} $*"; }
                main sdk install""");
        assertThat(said).contains("/the/jdk:", " -pl sdk -am install").doesNotContain("maven.repo.local", "Usage");
        assertThat(script("main sdk || echo refused")).contains("Usage: cay sdk install", "refused");
    }

    @Test
    void theFastLaneRunsForAnyUserAndTellsHowManyTestsThereWere() throws Exception {
        String said = tests("is_root() { false; }", "main test --fast 'Catalog*'");
        assertThat(said).contains("[INFO] Tests run: 12, Failures: 0, Errors: 0, Skipped: 0", "\nall good");
        assertThat(Files.readString(directory.resolve("arguments")))
                .contains(" -Dgroups=fast & !root ", " -Dtest=Catalog* ", " package ")
                .doesNotContain("verify");
    }

    @Test
    void allTestsNeedRoot() throws Exception {
        assertThat(tests("is_root() { false; }", "main test"))
                .contains("need root: sudo ./cay test")
                .doesNotContain("Tests run");
    }

    @Test
    void aTestThatFailsMakesTheRunFail() throws Exception {
        assertThat(tests("outcome=1", "main test --fast && echo fine || echo bad"))
                .endsWith("failed; everything is in %s/target/test-fast.log\nbad".formatted(directory));
    }

    @Test
    void bothLanesAreExplainedAndMistypedOptionsRefused() throws Exception {
        assertThat(script("main test --help")).contains("cay test --fast   the tests that need no root");
        assertThat(script("main test --fst")).endsWith("cay: test has no option --fst");
        assertThat(script("main test ATest BTest"))
                .isEqualTo("cay: test takes one NAME; separate several by commas: ./cay test ATest,BTest");
    }

    /// Tests whose Maven is played by a few lines of shell.
    private String tests(String before, String command) throws Exception {
        return script("""
                home='%s'; outcome=0
                cache_dir() { printf '%%s' "$home/cache"; }
                require_packages() { :; }
                choose_jdk() { :; }
                choose_maven() { :; }
                run_maven() {
                    echo " $* " >"$home/arguments"
                    echo '[INFO] Tests run: 12, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 1 s -- in dev.cay.ATest'
                    echo '[INFO] Tests run: 12, Failures: 0, Errors: 0, Skipped: 0'
                    return $outcome
                }
                %s
                %s""".formatted(directory, before, command));
    }

    @Test
    void onlyCommandsHaveMeasurementsAndProofsOnTheirClassPath() throws Exception {
        Path java = Files.createDirectories(directory.resolve("jdk/bin")).resolve("java");
        Files.writeString(java, "#!/bin/sh\necho \"$@\"\n");
        Files.setPosixFilePermissions(java, PosixFilePermissions.fromString("rwxr-xr-x"));
        Files.writeString(directory.resolve("classpath"), "cli.jar:node.jar\n");
        Files.writeString(directory.resolve("classpath.proofs"), "bench.jar\n");
        String begin = "jdk='%1$s/jdk'; CAY_BUILD='%1$s'; ".formatted(directory);
        assertThat(script(begin + "run daemon up")).contains(" -cp cli.jar:node.jar dev.cay.cli.Main up");
        assertThat(script(begin + "run command prove"))
                .contains(" -cp cli.jar:node.jar:bench.jar dev.cay.cli.Main prove");
    }

    /// A build whose Maven is played by a few lines of shell, the last of which are given.
    private String build(String before, String end) throws Exception {
        Path jar =
                Files.createDirectories(directory.resolve("cli/target/plain")).resolve("cay-cli-0.jar");
        Files.writeString(jar, "");
        return script("""
                home='%1$s'; app=$home/target/app
                mkdir -p "$app" && touch "$app/begin"
                require_packages() { :; }
                choose_maven() { :; }
                train() { :; }
                run_maven() (
                    echo " $* " >"$home/arguments"
                    echo '[INFO] downloading'
                    echo '[INFO] -------------------------< dev.cay:cay-wire >--------------------------'
                    echo '[INFO] Building cay-wire 0.1.0                                            [1/2]'
                    echo '[INFO] Building cay-cli 0.1.0                                             [2/2]'
                    %3$s
                )
                %2$s
                build 0123456789abcdef
                """.formatted(directory, before, end));
    }

    private Path fakeJdk(String name, String version) throws IOException {
        Path bin = Files.createDirectories(directory.resolve(name).resolve("bin"));
        for (String program : List.of("java", "javac")) {
            Path file = Files.writeString(
                    bin.resolve(program),
                    "#!/bin/sh\necho 'openjdk version \"%s\" 2026-01-01' >&2\n".formatted(version));
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
        }
        return directory.resolve(name);
    }

    private String script(String text) throws Exception {
        return script(text, Map.of());
    }

    private String script(String text, Map<String, String> environment) throws Exception {
        return run(directory, environment, "bash", "-c", "source '%s'\n%s".formatted(LAUNCHER, text));
    }

    private static String run(Path in, Map<String, String> environment, String... command) throws Exception {
        var builder = new ProcessBuilder(new ArrayList<>(List.of(command)))
                .directory(in.toFile())
                .redirectErrorStream(true);
        builder.environment()
                .keySet()
                .removeAll(List.of("JAVA_HOME", "http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY"));
        builder.environment().putAll(environment);
        var process = builder.start();
        String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
        return text.strip();
    }
}
