package dev.cay.platform;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
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
    private final Times memory;

    private Agents(Script script, Times memory) {
        this.script = script;
        this.memory = memory;
    }

    /// What a platform needs to know of the server. It starts no sandbox in advance: all there are belong to agents.
    ///
    /// @param directory where a catalog is written
    public static Map<String, String> settings(Path directory) throws IOException {
        return settings(directory, List.of());
    }

    /// @param others servers that may be used besides
    public static Map<String, String> settings(Path directory, List<NpmServer> others) throws IOException {
        var file = JsonMapper.shared().createObjectNode();
        var servers = file.putObject("servers");
        var echo = servers.putObject("echo").put("title", "Echo").put("category", "test");
        var command = echo.putObject("launch").putArray("command");
        // A dollar begins a variable in catalogs.
        List.of(
                        "node",
                        "--input-type=module",
                        "-e",
                        Files.readString(server(directory)).replace("$", "$$"))
                .forEach(command::add);
        others.forEach(server -> server.describe(servers));
        Path catalog = directory.resolve("servers.yaml");
        // YAML knows all that JSON does.
        Files.writeString(catalog, file.toString());
        return Map.of("mcp.catalogs", catalog.toString(), "templates.prepare", "mcp-gateway", "sandboxes.spares", "0");
    }

    /// The server's program, for those who start it without a sandbox.
    public static Path server(Path directory) throws IOException {
        var program = directory.resolve(SERVER);
        try (var in = Objects.requireNonNull(Agents.class.getResourceAsStream(SERVER), SERVER)) {
            Files.copy(in, program, StandardCopyOption.REPLACE_EXISTING);
        }
        return program;
    }

    /// The script of agents, for what it can do besides.
    public static Script script(OwnCay cay, Object... arguments) throws IOException, InterruptedException {
        var environment = new HashMap<>(cay.environment(OwnCay.Mode.DOMAIN));
        environment.put("E2B_API_URL", cay.url().toString());
        environment.put("CAY_INSTANCE", cay.instance());
        environment.put(
                "CAY_MCP_CLIENT",
                NpmClient.install(CLIENT, CLIENT_VERSION).directory().toString());
        return Script.start(
                NpmClient.e2b(),
                environment,
                Agents.class,
                "gateway.mjs",
                Stream.of(arguments).map(Object::toString).toArray(String[]::new));
    }

    /// Returns when each has its sandbox, is connected and knows its tools.
    ///
    /// @param calls that each will make
    /// @param pause the most that the server takes for one
    public static Agents gather(OwnCay cay, int count, int calls, Duration pause)
            throws IOException, InterruptedException {
        var script = script(cay, "agents", count, calls, pause.toMillis());
        try {
            var found = script.next(LIMIT);
            return new Agents(script, Times.of(found.get("memory")));
        } catch (InterruptedException | RuntimeException e) {
            script.close();
            throw e;
        }
    }

    /// Megabytes of its own that each sandbox of a server has, before the calls.
    public Times memory() {
        return memory;
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
