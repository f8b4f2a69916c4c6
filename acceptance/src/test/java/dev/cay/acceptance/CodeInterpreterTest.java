package dev.cay.acceptance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.DynamicContainer.dynamicContainer;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import dev.cay.bench.NpmClient;
import dev.cay.bench.OwnCay;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.extension.ExtendWith;

/// E2B's own client of the code interpreter, unmodified, against contexts in real sandboxes. The cases are in
/// `src/test/js/interpreter`.
@ExtendWith(TestPlatform.class)
final class CodeInterpreterTest {
    private static final String PACKAGE = "@e2b/code-interpreter";
    private static final List<String> FILES = List.of(
            "suite.test.mjs",
            "languages.test.mjs",
            "contexts.test.mjs",
            "results.test.mjs",
            "charts.test.mjs",
            "life.test.mjs",
            "extremes.test.mjs");

    /// Speaks to no client.
    private static final String WIRE = "wire.test.mjs";

    /// What happens there is the same for all clients.
    private static final String HOSTILE = "hostile.test.mjs";

    private static final List<Client> CLIENTS = List.of(
            new Client("2.8.0", OwnCay.Mode.DOMAIN, with(WIRE)),
            new Client("2.8.0", OwnCay.Mode.URL, with(WIRE, HOSTILE)),
            // It does not read the variables that hold URLs.
            new Client("2.0.1", OwnCay.Mode.DOMAIN, FILES));

    /// Its cases compute more than they wait.
    private static final int AT_ONCE = 2;

    private static List<String> with(String... more) {
        return Stream.concat(FILES.stream(), Stream.of(more)).toList();
    }

    private record Client(String version, OwnCay.Mode mode, List<String> files) {
        ClientTests.Run run(OwnCay platform, String file) throws Exception {
            return new ClientTests(NpmClient.install(PACKAGE, version))
                    .run("interpreter/" + file, platform.environment(mode));
        }

        String title(String file) {
            return "%s %s, %s, %s".formatted(PACKAGE, version, mode, file);
        }
    }

    @TestFactory
    List<DynamicNode> everyVersionEveryWay(OwnCay platform) throws Exception {
        platform.awaitTemplate("code-interpreter-v1");
        var report = new CompatibilityReport(CompatibilityReport.Part.INTERPRETER);
        var nodes = new ArrayList<DynamicNode>();
        for (var entry : runs(platform).entrySet()) {
            var client = entry.getKey();
            var runs = new ArrayList<ClientTests.Run>();
            for (var file : entry.getValue().entrySet()) {
                var run = file.getValue().get();
                runs.add(run);
                report.add(client.version(), file.getKey(), run.results());
                nodes.add(dynamicContainer(client.title(file.getKey()), run.cases(platform)));
            }
            nodes.add(dynamicTest(client.title("every public method"), () -> requireAllCovered(runs)));
        }
        report.write();
        return nodes;
    }

    private static Map<Client, Map<String, Future<ClientTests.Run>>> runs(OwnCay platform) {
        var runs = new LinkedHashMap<Client, Map<String, Future<ClientTests.Run>>>();
        try (var threads = Executors.newFixedThreadPool(AT_ONCE)) {
            for (var client : CLIENTS) {
                var files = new LinkedHashMap<String, Future<ClientTests.Run>>();
                client.files().forEach(file -> files.put(file, threads.submit(() -> client.run(platform, file))));
                runs.put(client, files);
            }
        }
        return runs;
    }

    private static void requireAllCovered(Collection<ClientTests.Run> runs) {
        assertThat(ClientTests.methods(runs)).contains("Sandbox.runCode", "Sandbox.createCodeContext");
        assertThat(ClientTests.uncovered(runs))
                .as("public methods of the client without a case")
                .isEmpty();
    }

    @Test
    void aRestartAfterAKillFindsContextsAndTheirVariables() throws Exception {
        try (var platform = OwnCay.start(Map.of())) {
            platform.awaitTemplate("code-interpreter-v1");
            var client = NpmClient.install(PACKAGE, "2.8.0");
            var verdict = CrashScript.run(platform, client, "interpreter/crash.mjs");
            assertThat(verdict.get("broken").asString()).startsWith("broken: ");
            assertThat(verdict.get("sameContexts").asBoolean())
                    .as(verdict.toString())
                    .isTrue();
            assertThat(verdict.get("goesOn").asBoolean()).as(verdict.toString()).isTrue();
            assertThat(verdict.get("lost").isEmpty()).as(verdict.toString()).isTrue();
            assertThat(verdict.get("languages").asInt()).isGreaterThanOrEqualTo(4);
            assertThat(verdict.get("count").asInt()).as(verdict.toString()).isPositive();
            assertThat(verdict.get("next").asString()).isEqualTo("2");
        }
    }
}
