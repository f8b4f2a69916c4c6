package dev.cay.acceptance;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.DynamicContainer.dynamicContainer;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import dev.cay.acceptance.ClientTests.Result;
import dev.cay.bench.NpmClient;
import dev.cay.bench.OwnCay;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.extension.ExtendWith;

/// E2B's own client, unmodified, in three versions and both ways of reaching the platform. The cases are in
/// `src/test/js`.
@ExtendWith(TestPlatform.class)
final class ClientsTest {
    private static final List<String> VERSIONS = List.of("2.51.0", "2.30.1", "2.9.0");
    private static final List<String> FILES =
            List.of("sandbox.test.mjs", "commands.test.mjs", "files.test.mjs", "ports.test.mjs", "observe.test.mjs");

    /// The cases mostly wait, so a few files run side by side.
    private static final int AT_ONCE = 3;

    private record Plan(String version, OwnCay.Mode mode, String file) {
        ClientTests.Run run(OwnCay platform) throws Exception {
            return new ClientTests(NpmClient.install("e2b", version)).run(file, platform.environment(mode));
        }
    }

    @TestFactory
    List<DynamicNode> everyVersionBothWays(OwnCay platform) throws Exception {
        var report = new CompatibilityReport(VERSIONS);
        var nodes = new ArrayList<DynamicNode>();
        var runs = new LinkedHashMap<Plan, Future<ClientTests.Run>>();
        try (var clients = Executors.newFixedThreadPool(AT_ONCE)) {
            for (var plan : plans()) {
                runs.put(plan, clients.submit(() -> plan.run(platform)));
            }
        }
        for (var entry : runs.entrySet()) {
            var plan = entry.getKey();
            var run = entry.getValue().get();
            report.add(plan.version(), plan.file(), run.results());
            nodes.add(dynamicContainer(
                    "e2b %s, %s, %s".formatted(plan.version(), plan.mode(), plan.file()), cases(run, platform)));
        }
        report.write();
        return nodes;
    }

    private static List<Plan> plans() {
        var plans = new ArrayList<Plan>();
        for (var version : VERSIONS) {
            for (var mode : OwnCay.Mode.values()) {
                FILES.forEach(file -> plans.add(new Plan(version, mode, file)));
            }
        }
        return plans;
    }

    private static List<DynamicNode> cases(ClientTests.Run run, OwnCay platform) {
        var cases = new ArrayList<DynamicNode>();
        cases.add(dynamicTest(
                "the run", () -> assertTrue(!run.results().isEmpty(), () -> run.output() + "\n" + platform.output())));
        for (Result result : run.results()) {
            cases.add(dynamicTest(result.name(), () -> {
                Assumptions.assumeFalse(result.skipped(), "this client has no such call");
                assertTrue(result.passed(), run::output);
            }));
        }
        return cases;
    }
}
