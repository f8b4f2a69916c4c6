package dev.cay.bench;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.StreamSupport;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// Agents with a sandbox and an MCP gateway each, and a client of their own, which all call a small server at once.
public final class Agents implements AutoCloseable {
    private static final Duration LIMIT = Duration.ofMinutes(10);
    private static final String SERVER = "echo-server.mjs";
    private static final String CLIENT = "@modelcontextprotocol/sdk";
    private static final String CLIENT_VERSION = "1.32.2";

    /// What came of all calls.
    ///
    /// @param right    how many were answered with what they asked for
    /// @param failures what is wrong with each of the others
    public record Answers(double seconds, int right, List<String> failures) {
        public Answers {
            failures = List.copyOf(failures);
        }
    }

    private final Script script;

    private Agents(Script script) {
        this.script = script;
    }

    /// What a platform needs to know of the server.
    ///
    /// @param directory where a catalog is written
    public static Map<String, String> settings(Path directory) throws IOException {
        var file = JsonMapper.shared().createObjectNode();
        var entry = file.putObject("servers").putObject("echo").put("title", "Echo").put("category", "test");
        var command = entry.putObject("launch").putArray("command");
        // A dollar begins a variable in catalogs.
        List.of("node", "--input-type=module", "-e", serverSource().replace("$", "$$"))
                .forEach(command::add);
        Path catalog = directory.resolve("echo.yaml");
        // YAML knows all that JSON does.
        Files.writeString(catalog, file.toString());
        return Map.of("mcp.catalogs", catalog.toString(), "templates.prepare", "mcp-gateway");
    }

    static String serverSource() throws IOException {
        try (var in = Agents.class.getResourceAsStream(SERVER)) {
            if (in == null) {
                throw new IllegalStateException("no resource " + SERVER);
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    /// The script of agents, for what it can do besides.
    static Script script(OwnCay cay, String... arguments) throws IOException, InterruptedException {
        var environment = new HashMap<>(cay.environment(OwnCay.Mode.DOMAIN));
        environment.put("E2B_API_URL", cay.url().toString());
        environment.put(
                "CAY_MCP_CLIENT",
                NpmClient.install(CLIENT, CLIENT_VERSION).directory().toString());
        return Script.start(NpmClient.e2b(), environment, Agents.class, "gateway.mjs", arguments);
    }

    /// Returns when each has its sandbox, is connected and knows its tools.
    public static Agents gather(OwnCay cay, int count, int calls) throws IOException, InterruptedException {
        var script = script(cay, "agents", Integer.toString(count), Integer.toString(calls));
        try {
            script.next(LIMIT);
            return new Agents(script);
        } catch (InterruptedException | RuntimeException e) {
            script.close();
            throw e;
        }
    }

    /// Each makes all its calls at once.
    public Answers call() throws IOException, InterruptedException {
        script.tell("call");
        var found = script.next(LIMIT);
        return new Answers(
                found.get("seconds").asDouble(),
                found.get("right").asInt(),
                StreamSupport.stream(found.get("failures").spliterator(), false)
                        .map(JsonNode::asString)
                        .toList());
    }

    /// Kills their sandboxes, while their clients are still connected.
    public void kill() throws IOException, InterruptedException {
        script.tell("kill");
        script.next(LIMIT);
    }

    @Override
    public void close() throws IOException {
        script.close();
    }
}
