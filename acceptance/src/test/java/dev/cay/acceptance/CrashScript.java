package dev.cay.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.platform.NpmClient;
import dev.cay.platform.OwnCay;
import java.nio.charset.StandardCharsets;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// A script that uses a client while the daemon is killed and started again: it says when it is ready, is told when the
/// daemon is up, and answers with what it found.
final class CrashScript {
    private CrashScript() {}

    static JsonNode run(OwnCay platform, NpmClient client, String file) throws Exception {
        var script = client.program(platform.environment(OwnCay.Mode.URL), "node", "src/test/js/" + file)
                .redirectErrorStream(true)
                .start();
        try (var lines = script.inputReader(StandardCharsets.UTF_8);
                var orders = script.outputWriter(StandardCharsets.UTF_8)) {
            assertThat(lines.readLine()).as(platform::output).isEqualTo("ready");
            platform.crash();
            platform.startAgain();
            orders.write("up\n");
            orders.flush();
            var text = lines.readLine();
            assertThat(text).as(platform::output).startsWith("{");
            return JsonMapper.shared().readTree(text);
        } finally {
            script.destroyForcibly();
        }
    }
}
