package dev.cay.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.platform.NpmClient;
import dev.cay.platform.OwnCay;
import dev.cay.testing.Await;
import dev.cay.testing.NeedsRoot;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.json.JsonMapper;

/// E2B's own command line against this platform.
@ExtendWith(TestPlatform.class)
@NeedsRoot
final class CliClientTest {
    @Test
    void createsListsRunsInAndKillsASandbox(OwnCay platform) throws Exception {
        for (var mode : OwnCay.Mode.values()) {
            var cli = new Cli(NpmClient.install("@e2b/cli", "2.19.0"), platform, mode);
            var id = cli.create();
            assertThat(id).matches("i[a-z0-9]{20}");

            var listed = JsonMapper.shared().readTree(cli.run("sandbox", "list", "--format", "json"));
            assertThat(listed.findValuesAsString("sandboxId")).contains(id);
            assertThat(cli.run("sandbox", "list")).contains(id);
            assertThat(cli.run("sandbox", "exec", id, "echo", "hi from inside")).contains("hi from inside");

            cli.run("sandbox", "kill", id);
            assertThat(cli.run("sandbox", "list")).doesNotContain(id);
        }
    }

    @Test
    void execGivesOutputInputAndExitCode(OwnCay platform) throws Exception {
        var cli = new Cli(NpmClient.install("@e2b/cli", "2.19.0"), platform, OwnCay.Mode.URL);
        try (var sandbox = new RawSandbox(platform)) {
            var failing = cli.start("sandbox", "exec", sandbox.id(), "sh", "-c", "echo out; echo err >&2; exit 7");
            var output = new String(failing.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(output).contains("out").contains("err");
            assertThat(failing.waitFor()).isEqualTo(7);

            var all = "whoami; pwd; echo $A; wc -c";
            var counting = cli.startWithInput(
                    "sandbox", "exec", "--user", "root", "--cwd", "/tmp", "--env", "A=1", sandbox.id(), all);
            try (var input = counting.getOutputStream()) {
                input.write(new byte[200_000]);
            }
            assertThat(new String(counting.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                    .isEqualTo("root\n/tmp\n1\n200000\n");
            assertThat(counting.waitFor()).isZero();

            var pid = cli.run("sandbox", "exec", "--background", sandbox.id(), "sleep", "300")
                    .strip();
            assertThat(sandbox.json("process.Process/List", "{}")).contains("\"pid\":" + pid);
        }
    }

    /// The client wants a terminal on its side too, which `script` gives it.
    @ParameterizedTest
    @EnumSource(OwnCay.Mode.class)
    @Timeout(120)
    void connectGivesATerminal(OwnCay.Mode mode, OwnCay platform) throws Exception {
        var cli = new Cli(NpmClient.install("@e2b/cli", "2.19.0"), platform, mode);
        try (var sandbox = new RawSandbox(platform)) {
            var terminal = cli.startInTerminal("sandbox", "connect", sandbox.id());
            try (var screen = terminal.inputReader(StandardCharsets.UTF_8);
                    var keys = terminal.outputWriter(StandardCharsets.UTF_8)) {
                readUntil(screen, "Terminal connecting");
                type(keys, "stty size; test -t 0 && echo on a $((6 * 7)) tty\r");
                readUntil(screen, "33 111");
                readUntil(screen, "on a 42 tty");
                // A shell of its own has the terminal before it prints: a key that comes earlier would reach nobody.
                type(keys, "sh -c 'echo be$((1))gin; exec sleep 300'\r");
                readUntil(screen, "be1gin");
                type(keys, "\003");
                type(keys, "echo interrupted=$?\r");
                readUntil(screen, "interrupted=130");
                type(keys, "exit\r");
                assertThat(terminal.waitFor(1, TimeUnit.MINUTES)).isTrue();
            } finally {
                terminal.descendants().forEach(ProcessHandle::destroyForcibly);
                terminal.destroyForcibly();
            }
            assertThat(sandbox.json("process.Process/List", "{}")).isEqualTo("{}");
        }
    }

    /// `spawn` is an older name, which the client hides and still takes.
    @ParameterizedTest
    @ValueSource(strings = {"create", "spawn"})
    @Timeout(120)
    void createAndSpawnGiveATerminalInASandboxThatEndsWithIt(String command, OwnCay platform) throws Exception {
        var cli = new Cli(NpmClient.install("@e2b/cli", "2.19.0"), platform, OwnCay.Mode.URL);
        var terminal =
                cli.startInTerminal("sandbox", command, "--user", "root", "--cwd", "/tmp", "--env", "COLOUR=green");
        try (var screen = terminal.inputReader(StandardCharsets.UTF_8);
                var keys = terminal.outputWriter(StandardCharsets.UTF_8)) {
            readUntil(screen, "Terminal connecting");
            type(keys, "stty size; test -t 0 && echo \"on a $((6 * 7)) tty as $(whoami) in $PWD, $COLOUR\"\r");
            readUntil(screen, "33 111");
            readUntil(screen, "on a 42 tty as root in /tmp, green");
            type(keys, "echo id=$E2B_SANDBOX_ID.\r");
            String id = read(screen, Pattern.compile("id=(i[a-z0-9]{20})\\."));
            assertThat(cli.run("sandbox", "list")).contains(id);
            type(keys, "sh -c 'echo be$((1))gin; exec sleep 300'\r");
            readUntil(screen, "be1gin");
            type(keys, "\003");
            type(keys, "echo interrupted=$?\r");
            readUntil(screen, "interrupted=130");
            type(keys, "exit\r");
            assertThat(terminal.waitFor(1, TimeUnit.MINUTES)).isTrue();
            assertThat(terminal.exitValue()).isZero();
            // The client leaves it a second.
            Await.until(
                    "the end of the sandbox", () -> !cli.run("sandbox", "list").contains(id));
        } finally {
            terminal.descendants().forEach(ProcessHandle::destroyForcibly);
            terminal.destroyForcibly();
        }
    }

    /// What a terminal shows before the client has a sandbox.
    @Test
    @Timeout(120)
    void aTerminalForATemplateThatIsNotThereEndsWithASentence(OwnCay platform) throws Exception {
        var cli = new Cli(NpmClient.install("@e2b/cli", "2.19.0"), platform, OwnCay.Mode.URL);
        var terminal = cli.startInTerminal("sandbox", "create", "not-a-template");
        try (var screen = terminal.inputReader(StandardCharsets.UTF_8)) {
            readUntil(screen, "not-a-template");
            assertThat(terminal.waitFor(1, TimeUnit.MINUTES)).isTrue();
            assertThat(terminal.exitValue()).isEqualTo(1);
        } finally {
            terminal.descendants().forEach(ProcessHandle::destroyForcibly);
            terminal.destroyForcibly();
        }
    }

    private static String read(BufferedReader lines, Pattern wanted) throws IOException {
        for (var line = lines.readLine(); line != null; line = lines.readLine()) {
            var found = wanted.matcher(line);
            if (found.find()) {
                return found.group(1);
            }
        }
        throw new AssertionError("ended without: " + wanted);
    }

    private static void type(Writer keys, String text) throws IOException {
        keys.write(text);
        keys.flush();
    }

    @Test
    @Timeout(120)
    void showsMetricsAndLogsOfASandboxAlsoWhenItIsGone(OwnCay platform) throws Exception {
        var cli = new Cli(NpmClient.install("@e2b/cli", "2.19.0"), platform, OwnCay.Mode.URL);
        var id = cli.create();
        cli.run("sandbox", "exec", id, "echo", "hi from inside");

        assertThat(cli.run("sandbox", "metrics", id))
                .contains("CPU")
                .contains("Memory")
                .contains("512");
        assertThat(cli.run("sandbox", "logs", id))
                .contains("Sandbox created")
                .contains("Process started")
                .contains("hi from inside");
        assertThat(cli.run("sandbox", "logs", "--format", "json", id)).contains("\"exit_code\":\"0\"");
        var following = cli.start("sandbox", "logs", "--follow", "--format", "json", id);
        try (var lines = following.inputReader(StandardCharsets.UTF_8)) {
            readUntil(lines, "Sandbox created");
            cli.run("sandbox", "exec", id, "echo", "followed");
            readUntil(lines, "followed");
            cli.run("sandbox", "kill", id);
            assertThat(following.waitFor(1, TimeUnit.MINUTES)).isTrue();
        } finally {
            following.destroyForcibly();
        }
        assertThat(cli.run("sandbox", "logs", id)).contains("Sandbox killed: request");
        assertThat(cli.run("sandbox", "metrics", id)).contains("Memory").contains("closed");
    }

    @Test
    @Timeout(120)
    void buildsAndKeepsTemplates(OwnCay platform, @TempDir Path project) throws Exception {
        var cli = new Cli(NpmClient.install("@e2b/cli", "2.19.0"), platform, OwnCay.Mode.URL);
        Files.writeString(project.resolve("app.txt"), "from the project");
        Files.writeString(project.resolve("Dockerfile"), """
                FROM e2bdev/base
                ENV COLOUR=green
                WORKDIR /opt/app
                COPY app.txt .
                RUN echo "$COLOUR $(whoami)" > built.txt
                """);
        String path = project.toString();
        assertThat(cli.run("template", "create", "cli-made", "--path", path, "--memory-mb", "256"))
                .contains("cli-made finished");
        assertThat(cli.run("template", "list")).contains("cli-made");
        var id = cli.run("sandbox", "create", "--detach", "cli-made")
                .strip()
                .lines()
                .toList()
                .getLast();
        assertThat(cli.run("sandbox", "exec", id, "cat built.txt app.txt")).contains("green root\nfrom the project");
        cli.run("sandbox", "kill", id);
        assertThat(cli.run("template", "publish", "cli-made", "-y")).contains("default/cli-made");
        cli.run("template", "unpublish", "cli-made", "-y");
        cli.run("template", "delete", "cli-made", "-y");
        assertThat(cli.run("template", "list")).doesNotContain("cli-made");
    }

    private static void readUntil(BufferedReader lines, String wanted) throws IOException {
        for (var line = lines.readLine(); line != null; line = lines.readLine()) {
            if (line.contains(wanted)) {
                return;
            }
        }
        throw new AssertionError("ended without: " + wanted);
    }

    private record Cli(NpmClient client, OwnCay platform, OwnCay.Mode mode) {
        String create() throws Exception {
            return run("sandbox", "create", "--detach").strip().lines().toList().getLast();
        }

        String run(String... arguments) throws Exception {
            var process = start(arguments);
            var output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(process.waitFor())
                    .as(() -> String.join(" ", arguments) + "\n" + output)
                    .isZero();
            return output;
        }

        Process start(String... arguments) throws IOException {
            var process = startWithInput(arguments);
            process.getOutputStream().close();
            return process;
        }

        Process startWithInput(String... arguments) throws IOException {
            return start(command(arguments));
        }

        Process startInTerminal(String... arguments) throws IOException {
            var inside = "stty rows 33 cols 111; exec " + String.join(" ", command(arguments));
            return start(List.of("script", "--quiet", "--flush", "--return", "--command", inside, "/dev/null"));
        }

        private List<String> command(String... arguments) {
            var command = new ArrayList<>(List.of(
                    "node", client.directory().resolve("node_modules/.bin/e2b").toString()));
            command.addAll(List.of(arguments));
            return command;
        }

        private Process start(List<String> command) throws IOException {
            return client.program(platform.environment(mode), command.toArray(String[]::new))
                    .redirectErrorStream(true)
                    .start();
        }
    }
}
