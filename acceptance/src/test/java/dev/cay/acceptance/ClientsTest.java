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
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.extension.ExtendWith;

/// E2B's own client, unmodified, in several versions and all the ways they have of reaching the platform. The cases are
/// in `src/test/js`; each says which public methods of the client it covers, and none may be left.
@ExtendWith(TestPlatform.class)
final class ClientsTest {
    private static final List<Client> CLIENTS = List.of(
            new Client("2.51.0", OwnCay.Mode.DOMAIN),
            new Client("2.51.0", OwnCay.Mode.URL),
            new Client("2.30.1", OwnCay.Mode.DOMAIN),
            new Client("2.30.1", OwnCay.Mode.URL),
            new Client("2.9.0", OwnCay.Mode.DOMAIN),
            new Client("2.9.0", OwnCay.Mode.URL),
            // It does not read the variables that hold URLs.
            new Client("1.9.0", OwnCay.Mode.DOMAIN));
    private static final List<String> FILES = List.of(
            "sandbox.test.mjs",
            "commands.test.mjs",
            "pty.test.mjs",
            "files.test.mjs",
            "watch.test.mjs",
            "git.test.mjs",
            "errors.test.mjs",
            "ports.test.mjs",
            "observe.test.mjs",
            "pause.test.mjs",
            "methods.test.mjs");

    /// The cases mostly wait, so a few files run side by side.
    private static final int AT_ONCE = 3;

    private record Client(String version, OwnCay.Mode mode) {
        ClientTests.Run run(OwnCay platform, String file) throws Exception {
            return new ClientTests(NpmClient.install("e2b", version)).run(file, platform.environment(mode));
        }

        String title() {
            return "e2b %s, %s".formatted(version, mode);
        }
    }

    @TestFactory
    List<DynamicNode> everyVersionEveryWay(OwnCay platform) throws Exception {
        var report = new CompatibilityReport(CompatibilityReport.Part.E2B);
        var nodes = new ArrayList<DynamicNode>();
        for (var entry : runs(platform).entrySet()) {
            var client = entry.getKey();
            var runs = new LinkedHashMap<String, ClientTests.Run>();
            for (var run : entry.getValue().entrySet()) {
                runs.put(run.getKey(), run.getValue().get());
                report.add(
                        client.version(), run.getKey(), runs.get(run.getKey()).results());
                nodes.add(dynamicContainer(
                        client.title() + ", " + run.getKey(),
                        runs.get(run.getKey()).cases(platform)));
            }
            nodes.add(dynamicTest(
                    client.title() + ": every public method has a case", () -> requireAllCovered(runs.values())));
        }
        report.write();
        return nodes;
    }

    private static Map<Client, Map<String, Future<ClientTests.Run>>> runs(OwnCay platform) {
        var runs = new LinkedHashMap<Client, Map<String, Future<ClientTests.Run>>>();
        try (var threads = Executors.newFixedThreadPool(AT_ONCE)) {
            for (var client : CLIENTS) {
                var files = new LinkedHashMap<String, Future<ClientTests.Run>>();
                FILES.forEach(file -> files.put(file, threads.submit(() -> client.run(platform, file))));
                runs.put(client, files);
            }
        }
        return runs;
    }

    private static void requireAllCovered(Collection<ClientTests.Run> runs) {
        assertThat(ClientTests.methods(runs))
                .contains("Commands.run", "Filesystem.watchDir", "CommandHandle.wait", "WatchHandle.stop");
        assertThat(ClientTests.uncovered(runs))
                .as("public methods of the client without a case")
                .isEmpty();
    }
}
