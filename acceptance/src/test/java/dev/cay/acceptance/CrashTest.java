package dev.cay.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

/// What a user sees of a daemon that dies without warning: nothing is lost.
final class CrashTest {
    @Test
    void aRestartAfterAKillAdoptsSandboxesAndTheirCommands() throws Exception {
        try (var platform = TestPlatform.start()) {
            var client = Client.install("e2b", "2.51.0");
            var script = client.start(platform.environment(TestPlatform.Mode.URL), "node", "src/test/js/crash.mjs");
            try (var lines = script.inputReader(StandardCharsets.UTF_8);
                    var orders = script.outputWriter(StandardCharsets.UTF_8)) {
                assertThat(lines.readLine()).isEqualTo("ready");
                platform.crash();
                platform.startAgain();
                orders.write("up\n");
                orders.flush();
                var text = lines.readLine();
                assertThat(text).as(platform::output).startsWith("{");
                var verdict = JsonMapper.shared().readTree(text);
                assertThat(verdict.get("alive").asBoolean()).isTrue();
                assertThat(verdict.get("listed").asBoolean()).isTrue();
                assertThat(verdict.get("broken").isNull())
                        .as(verdict.toString())
                        .isTrue();
                assertThat(verdict.get("numbers").asInt()).isGreaterThan(200);
                assertThat(verdict.get("lonelyAfter").asInt()).isGreaterThan(20);
            } finally {
                script.destroyForcibly();
            }
        }
    }
}
