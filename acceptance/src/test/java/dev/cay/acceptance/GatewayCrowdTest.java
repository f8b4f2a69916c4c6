package dev.cay.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.platform.Agents;
import dev.cay.platform.OwnCay;
import dev.cay.prove.Household;
import dev.cay.testing.NeedsRoot;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Many agents that call many tools at once, each through the gateway of its own sandbox.
@Timeout(1800)
@NeedsRoot
final class GatewayCrowdTest {
    private static final int AGENTS = 10;
    private static final int CALLS = 100;

    /// So that answers do not come in the order of the calls.
    private static final Duration PAUSE = Duration.ofMillis(200);

    /// Longer than it takes, and shorter than what is left lying would take to go by itself.
    private static final Duration GONE_LIMIT = Duration.ofSeconds(45);

    @Test
    void everyCallGetsItsOwnAnswerAndNothingIsLeftOfTheServers(@TempDir Path directory) throws Exception {
        try (var cay = OwnCay.start(Agents.settings(directory))) {
            cay.awaitTemplate("mcp-gateway");
            var household = new Household(cay);
            var before = household.things();
            try (var agents = Agents.gather(cay, AGENTS, CALLS, PAUSE)) {
                var answers = agents.call();
                assertThat(answers.failures())
                        .as("after %.1f s", answers.seconds())
                        .isEmpty();
                assertThat(answers.right()).isEqualTo(AGENTS * CALLS);
                // What is looked for afterwards is seen while it is there: a sandbox for each, and one for its server.
                assertThat(household.things())
                        .filteredOn(thing -> thing.contains("/run/runc/"))
                        .hasSizeGreaterThanOrEqualTo(2 * AGENTS);
                agents.kill();
                assertThat(household.left(before, GONE_LIMIT)).isEmpty();
            }
        }
    }
}
