package dev.cay.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.bench.NpmClient;
import dev.cay.bench.OwnCay;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import tools.jackson.databind.json.JsonMapper;

/// E2B's own command line against this platform.
@ExtendWith(TestPlatform.class)
final class CliClientTest {
    @Test
    void createsListsRunsInAndKillsASandbox(OwnCay platform) throws Exception {
        for (var mode : OwnCay.Mode.values()) {
            var cli = new Cli(NpmClient.install("@e2b/cli", "2.19.0"), platform, mode);
            var id = cli.run("sandbox", "create", "--detach")
                    .strip()
                    .lines()
                    .toList()
                    .getLast();
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
    @Timeout(120)
    void showsMetricsAndLogsOfASandboxAlsoWhenItIsGone(OwnCay platform) throws Exception {
        var cli = new Cli(NpmClient.install("@e2b/cli", "2.19.0"), platform, OwnCay.Mode.URL);
        var id = cli.run("sandbox", "create", "--detach")
                .strip()
                .lines()
                .toList()
                .getLast();
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

    private static void readUntil(BufferedReader lines, String wanted) throws IOException {
        for (var line = lines.readLine(); line != null; line = lines.readLine()) {
            if (line.contains(wanted)) {
                return;
            }
        }
        throw new AssertionError("ended without: " + wanted);
    }

    private record Cli(NpmClient client, OwnCay platform, OwnCay.Mode mode) {
        String run(String... arguments) throws Exception {
            var process = start(arguments);
            var output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(process.waitFor())
                    .as(() -> String.join(" ", arguments) + "\n" + output)
                    .isZero();
            return output;
        }

        Process start(String... arguments) throws IOException {
            var command = new ArrayList<>(List.of(
                    "node", client.directory().resolve("node_modules/.bin/e2b").toString()));
            command.addAll(List.of(arguments));
            var process = client.program(platform.environment(mode), command.toArray(String[]::new))
                    .redirectErrorStream(true)
                    .start();
            process.getOutputStream().close();
            return process;
        }
    }
}
