package dev.cay.acceptance;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.DynamicContainer.dynamicContainer;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import dev.cay.acceptance.Client.Result;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.extension.ExtendWith;

/// E2B's own client, unmodified, in three versions and both ways of reaching the platform. The cases are in
/// `src/test/js`.
@ExtendWith(TestPlatform.Shared.class)
final class ClientsTest {
    private static final List<String> VERSIONS = List.of("2.51.0", "2.30.1", "2.9.0");
    private static final List<String> FILES =
            List.of("sandbox.test.mjs", "commands.test.mjs", "files.test.mjs", "ports.test.mjs");

    @TestFactory
    List<DynamicNode> everyVersionBothWays(TestPlatform platform) throws Exception {
        var report = new CompatibilityReport(VERSIONS);
        var nodes = new ArrayList<DynamicNode>();
        for (var version : VERSIONS) {
            var client = Client.install("e2b", version);
            for (var mode : TestPlatform.Mode.values()) {
                for (var file : FILES) {
                    var run = client.test(file, platform.environment(mode));
                    report.add(version, mode, file, run.results());
                    nodes.add(dynamicContainer("e2b %s, %s, %s".formatted(version, mode, file), cases(run, platform)));
                }
            }
        }
        report.write();
        return nodes;
    }

    private static List<DynamicNode> cases(Client.Run run, TestPlatform platform) {
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
