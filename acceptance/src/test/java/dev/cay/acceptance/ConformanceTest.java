package dev.cay.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.NeedsRoot;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// The server that is put behind the gateway to measure it. Whatever fails there and not here is the gateway's.
@Timeout(900)
@NeedsRoot
final class ConformanceTest {
    @Test
    void theFixturesLackNothingAlone() throws Exception {
        var suite = Conformance.install();
        try (var server = NodeProgram.start(Map.of(), "mcp/fixtures-server.mjs", "--http", "0")) {
            String url = server.firstLine();
            var old = suite.run(url, "2025-11-25");
            assertThat(old.complaints()).as(old.output()).isEmpty();
            assertThat(old.passed()).isGreaterThanOrEqualTo(83);
            // The way the gateway will be measured: the proxy takes nothing away.
            assertThat(suite.run(url, Map.of("TOKEN", "any"), "2025-11-25").scenarios())
                    .isEqualTo(old.scenarios());

            var now = suite.run(url, "2026-07-28");
            // An extension of which there is nothing here.
            now.scenarios().keySet().removeIf(scenario -> scenario.startsWith("tasks-"));
            assertThat(now.complaints()).as(now.output()).isEmpty();
            assertThat(now.passed()).isGreaterThanOrEqualTo(152);
        }
    }
}
