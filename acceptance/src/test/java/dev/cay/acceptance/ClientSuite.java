package dev.cay.acceptance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.DynamicContainer.dynamicContainer;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import dev.cay.platform.NpmClient;
import dev.cay.platform.OwnCay;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Function;
import org.junit.jupiter.api.DynamicNode;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Test files, run with several versions of a client in all the ways they have of reaching the platform. What came of
/// it goes into the page of what works.
///
/// @param folder  of the files, with a slash at its end if it has a name
/// @param atOnce  how many files run side by side
/// @param methods some that the client is known to have
record ClientSuite(CompatibilityReport.Part part, String folder, int atOnce, Set<String> methods) {
    private static final Logger log = LoggerFactory.getLogger(ClientSuite.class);

    ClientSuite {
        methods = Set.copyOf(methods);
    }

    record Client(String name, String version, OwnCay.Mode mode, List<String> files) {
        Client {
            files = List.copyOf(files);
        }

        private String title(String of) {
            return "%s %s, %s, %s".formatted(name, version, mode, of);
        }
    }

    /// @param platforms which platform each client is run against
    /// @param clients   the newest version first, which runs the deep cases, too
    List<DynamicNode> run(Function<Client, OwnCay> platforms, List<Client> clients) throws Exception {
        var report = new CompatibilityReport(part);
        var nodes = new ArrayList<DynamicNode>();
        var versions = new LinkedHashMap<String, List<ClientTests.Run>>();
        for (var entry : runs(platforms, clients).entrySet()) {
            var client = entry.getKey();
            for (var file : entry.getValue().entrySet()) {
                var run = file.getValue().get();
                versions.computeIfAbsent(client.version(), _ -> new ArrayList<>())
                        .add(run);
                report.add(client.version(), file.getKey(), run.results());
                nodes.add(dynamicContainer(client.title(file.getKey()), run.cases(platforms.apply(client))));
            }
        }
        versions.forEach((version, runs) ->
                nodes.add(dynamicTest(version + ", every public method has a case", () -> requireAllCovered(runs))));
        report.write();
        nodes.add(dynamicTest(report.page() + " says what this run found", report::requireOnPage));
        return nodes;
    }

    private Map<Client, Map<String, Future<ClientTests.Run>>> runs(
            Function<Client, OwnCay> platforms, List<Client> clients) {
        String newest = clients.getFirst().version();
        var runs = new LinkedHashMap<Client, Map<String, Future<ClientTests.Run>>>();
        try (var threads = Executors.newFixedThreadPool(atOnce)) {
            for (var client : clients) {
                var files = new LinkedHashMap<String, Future<ClientTests.Run>>();
                var environment = new HashMap<>(platforms.apply(client).environment(client.mode()));
                if (!client.version().equals(newest)) {
                    environment.put("CAY_SURFACE", "1");
                }
                client.files().forEach(file -> files.put(file, threads.submit(() -> run(environment, client, file))));
                runs.put(client, files);
            }
        }
        return runs;
    }

    private ClientTests.Run run(Map<String, String> environment, Client client, String file) throws Exception {
        long began = System.nanoTime();
        var run = new ClientTests(NpmClient.install(client.name(), client.version())).run(folder + file, environment);
        log.atInfo()
                .addKeyValue("s", Duration.ofNanos(System.nanoTime() - began).toSeconds())
                .log(client.title(file));
        return run;
    }

    private void requireAllCovered(Collection<ClientTests.Run> runs) {
        assertThat(ClientTests.methods(runs)).containsAll(methods);
        assertThat(ClientTests.uncovered(runs))
                .as("public methods of the client without a case")
                .isEmpty();
    }
}
