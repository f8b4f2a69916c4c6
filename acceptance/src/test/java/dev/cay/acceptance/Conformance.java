package dev.cay.acceptance;

import static java.util.concurrent.TimeUnit.MINUTES;

import dev.cay.life.Trees;
import dev.cay.platform.NpmClient;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// MCP's own conformance suite, against any server.
///
/// @param suite where the suite is installed
/// @param node  a Node that is new enough for it
record Conformance(Path suite, Path node) {
    private static final String VERSION = "0.2.0-alpha.12";
    private static final Pattern FOLDER = Pattern.compile("server-(.+)-\\d{4}-\\d\\d-\\d\\dT[\\d-]+Z");

    /// What one scenario gave.
    ///
    /// @param complaints of the checks that failed
    record Score(int passed, List<String> complaints) {
        Score {
            complaints = List.copyOf(complaints);
        }

        int failed() {
            return complaints.size();
        }
    }

    /// @param scenarios by name; extensions and what is not scored included
    record Report(SortedMap<String, Score> scenarios, String output) {
        int passed() {
            return scenarios.values().stream().mapToInt(Score::passed).sum();
        }

        /// One line for each check that failed.
        List<String> complaints() {
            return scenarios.entrySet().stream()
                    .flatMap(one -> one.getValue().complaints().stream().map(what -> one.getKey() + ": " + what))
                    .toList();
        }
    }

    static Conformance install() throws IOException, InterruptedException {
        var suite = NpmClient.install("@modelcontextprotocol/conformance", VERSION);
        return new Conformance(
                suite.directory().resolve("node_modules/@modelcontextprotocol/conformance/dist/index.js"),
                NodeProgram.newerNode());
    }

    /// @param revision whose requirements are looked at
    Report run(String url, String revision) throws IOException, InterruptedException {
        var results = Files.createTempDirectory("cay-conformance");
        try {
            var log = results.resolve("log").toFile();
            var process = new ProcessBuilder(node.toString(), suite.toString(), "server")
                    .redirectErrorStream(true)
                    .redirectOutput(log);
            process.command().addAll(List.of("--url", url, "--requirements", revision, "-o", results.toString()));
            var running = process.start();
            if (!running.waitFor(5, MINUTES)) {
                running.destroyForcibly();
            }
            return new Report(read(results), Files.readString(log.toPath(), StandardCharsets.UTF_8));
        } finally {
            Trees.delete(results);
        }
    }

    /// The same for a server that wants a token, which the suite cannot send.
    ///
    /// @param environment `TOKEN`, and what it takes to trust the server
    Report run(String url, Map<String, String> environment, String revision) throws IOException, InterruptedException {
        try (var proxy = NodeProgram.start(environment, "mcp/token-proxy.mjs", url)) {
            return run(proxy.firstLine(), revision);
        }
    }

    private static SortedMap<String, Score> read(Path results) throws IOException {
        var scenarios = new TreeMap<String, Score>();
        try (var folders = Files.list(results)) {
            for (var folder : folders.toList()) {
                var name = FOLDER.matcher(folder.getFileName().toString());
                var checks = folder.resolve("checks.json");
                if (name.matches() && Files.exists(checks)) {
                    scenarios.put(name.group(1), score(JsonMapper.shared().readTree(checks.toFile())));
                }
            }
        }
        return scenarios;
    }

    private static Score score(JsonNode checks) {
        var by = checks.valueStream().toList();
        var passed = by.stream().filter(check -> status(check).equals("SUCCESS"));
        var failed = by.stream().filter(check -> status(check).equals("FAILURE"));
        return new Score(
                (int) passed.count(), failed.map(Conformance::complaint).toList());
    }

    private static String status(JsonNode check) {
        return check.path("status").asString("");
    }

    private static String complaint(JsonNode check) {
        return check.path("id").asString("") + " " + check.path("errorMessage").asString("");
    }
}
