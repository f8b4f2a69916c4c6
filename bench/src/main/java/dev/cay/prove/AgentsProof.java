package dev.cay.prove;

import dev.cay.life.Trees;
import dev.cay.platform.Agents;
import dev.cay.platform.OwnCay;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/// Many agents that call many tools at once, each through the gateway of its own sandbox.
final class AgentsProof implements Proof {
    private static final int AGENTS = 20;
    private static final int CALLS = 100;

    /// So that answers do not come in the order of the calls.
    private static final Duration PAUSE = Duration.ofMillis(200);

    /// Longer than it takes, and shorter than what is left lying would take to go by itself.
    private static final Duration GONE_LIMIT = Duration.ofSeconds(45);

    @Override
    public String name() {
        return "agents";
    }

    @Override
    public String promise() {
        return ("%d agents that make %d MCP calls each at once all get their own answers, and nothing is left of their"
                        + " servers once the sandboxes are killed")
                .formatted(AGENTS, CALLS);
    }

    @Override
    public Verdict run(Stage stage) throws Exception {
        Path directory = Files.createTempDirectory("cay-agents-");
        try {
            var cay = stage.cay(Agents.settings(directory));
            cay.awaitTemplate("mcp-gateway");
            return judge(stage, cay, stage.sandboxes(AGENTS));
        } finally {
            Trees.delete(directory);
        }
    }

    private static Verdict judge(Stage stage, OwnCay cay, int count) throws IOException, InterruptedException {
        var household = new DaemonResources(cay);
        var before = household.things();
        stage.say("%d agents get their sandboxes".formatted(count));
        try (var agents = Agents.gather(cay, count, CALLS, PAUSE)) {
            stage.say("each makes %d calls".formatted(CALLS));
            var answers = agents.call();
            var wrong = new ArrayList<>(answers.failures());
            if (answers.right() != count * CALLS) {
                wrong.add("%d of %d calls got their own answers".formatted(answers.right(), count * CALLS));
            }
            // What is looked for afterwards is seen while it is there: a sandbox for each, and one for its server.
            long containers = containers(household.things());
            if (containers < 2L * count) {
                wrong.add("only %d of the %d containers were found that agents and their servers have"
                        .formatted(containers, 2 * count));
            }
            stage.say("the sandboxes are killed");
            agents.kill();
            household.left(before, GONE_LIMIT).forEach(thing -> wrong.add("left: " + thing));
            return verdict(count, answers, wrong);
        }
    }

    private static long containers(Set<String> things) {
        return things.stream().filter(thing -> thing.contains("/run/runc/")).count();
    }

    private static Verdict verdict(int count, Agents.Answers answers, List<String> wrong) {
        return new Verdict(
                wrong.isEmpty(),
                String.format(
                        Locale.ROOT,
                        "%d calls of %d agents answered rightly in %.1f s, %d things wrong or left",
                        answers.right(),
                        count,
                        answers.seconds(),
                        wrong.size()),
                wrong);
    }
}
