package dev.cay.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.bench.NpmClient;
import dev.cay.bench.OwnCay;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
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

    private record Cli(NpmClient client, OwnCay platform, OwnCay.Mode mode) {
        String run(String... arguments) throws Exception {
            var command = new java.util.ArrayList<>(java.util.List.of(
                    "node", client.directory().resolve("node_modules/.bin/e2b").toString()));
            command.addAll(java.util.List.of(arguments));
            var process = client.program(platform.environment(mode), command.toArray(String[]::new))
                    .redirectErrorStream(true)
                    .start();
            process.getOutputStream().close();
            var output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(process.waitFor())
                    .as(() -> String.join(" ", command) + "\n" + output)
                    .isZero();
            return output;
        }
    }
}
