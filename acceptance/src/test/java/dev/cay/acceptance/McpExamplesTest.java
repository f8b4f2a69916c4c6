package dev.cay.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.node.host.Programs;
import dev.cay.platform.NpmClient;
import dev.cay.platform.OwnCay;
import dev.cay.sdk.Cay;
import dev.cay.sdk.NewSandbox;
import dev.cay.sdk.Sandbox;
import dev.cay.sdk.Settings;
import dev.cay.testing.Await;
import dev.cay.testing.NeedsRoot;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.json.JsonMapper;

/// The sets of MCP servers that E2B's published examples ask for, on a Cay whose operator says nothing about servers.
/// Images come from a registry of the test's own, or from nowhere; nothing outside is called.
@TestInstance(Lifecycle.PER_CLASS)
@Timeout(1800)
@NeedsRoot
final class McpExamplesTest {
    private static final Duration LIMIT = Duration.ofMinutes(1);
    private static final int PROGRAM_MINUTES = 10;

    /// Packages of npm that start with made-up credentials.
    private static final Map<String, String> BY_NPM =
            Map.of("browserbase", "npm", "exa", "npm", "notion", "npm", "github", "npm", "slack", "npm");

    private static final List<String> BY_IMAGE = List.of("sonarqube", "stripe", "githubOfficial");

    @TempDir
    private Path directory = Path.of("unset");

    private ImageShelf images;
    private OwnCay cay;
    private OwnCay closed;

    @BeforeAll
    void begin(@TempDir Path shelf) throws Exception {
        images = ImageShelf.start(shelf)
                .program("mcp/sonarqube", "tell")
                .program("mcp/stripe", "list_customers")
                .program("github/github-mcp-server", "create_issue");
        cay = start(images.mirrors());
        closed = start("");
    }

    @AfterAll
    void end() throws Exception {
        cay.close();
        closed.close();
        images.close();
    }

    /// @param mirrors of registries; none other is asked
    private static OwnCay start(String mirrors) throws Exception {
        var settings = new HashMap<>(Map.of("images.mirrorsOnly", "true", "templates.prepare", "mcp-gateway"));
        if (!mirrors.isEmpty()) {
            settings.put("images.mirrors", mirrors);
        }
        // No remote server is ever reached: the way there ends at a port that nobody has.
        settings.put("HTTPS_PROXY", "http://127.0.0.1:9");
        settings.put("NO_PROXY", "localhost,127.0.0.1," + npmRegistry());
        var started = OwnCay.start(settings);
        started.awaitTemplate("mcp-gateway");
        return started;
    }

    private static String npmRegistry() {
        String url = Programs.ofHost()
                .require(LIMIT, "npm", "config", "get", "registry")
                .strip();
        return URI.create(url.lines().reduce((_, last) -> last).orElse(url)).getHost();
    }

    @TestFactory
    List<DynamicNode> withARegistry() throws Exception {
        return run("2.51.0", cay, "image");
    }

    @TestFactory
    List<DynamicNode> withARegistryAndOlderNames() throws Exception {
        return run("2.3.3", cay, "image");
    }

    @TestFactory
    List<DynamicNode> withoutARegistry() throws Exception {
        return run("2.51.0", closed, "");
    }

    /// @param image how servers start that have no package which does; empty for not at all
    private static List<DynamicNode> run(String client, OwnCay cay, String image) throws Exception {
        var ways = new HashMap<>(BY_NPM);
        BY_IMAGE.forEach(key -> ways.put(key, image));
        var environment = new HashMap<>(cay.environment(OwnCay.Mode.DOMAIN));
        environment.put("E2B_API_URL", cay.url().toString());
        environment.put(
                "CAY_MCP_CLIENT",
                NpmClient.install("@modelcontextprotocol/sdk", "1.32.2")
                        .directory()
                        .toString());
        environment.put("CAY_WAYS", JsonMapper.shared().writeValueAsString(ways));
        return new ClientTests(NpmClient.install("e2b", client))
                .run("mcp/examples.test.mjs", environment)
                .cases(cay);
    }

    /// What the Python client sends for its example: the same sandbox, and the gateway's command line in its own JSON.
    @Test
    void asPythonAsksForThem() throws Exception {
        try (var sandbox = new RawSandbox(cay, """
                {"templateID":"mcp-gateway","metadata":{},"envVars":{},"timeout":300,"secure":true,"autoPause":false,\
                "allow_internet_access":true,"mcp":{"notion":{"internalIntegrationToken":"ntn_token"},\
                "githubOfficial":{"githubPersonalAccessToken":"ghp_token"}}}""")) {
            var request = """
                    {"process":{"cmd":"/bin/bash","args":["-l","-c","mcp-gateway --config '{\\"notion\\": \
                    {\\"internalIntegrationToken\\": \\"ntn_token\\"}, \\"githubOfficial\\": \
                    {\\"githubPersonalAccessToken\\": \\"ghp_token\\"}}'"],\
                    "envs":{"GATEWAY_ACCESS_TOKEN":"0e7a1d0c-7f0a-4c7e-9a35-0f1c0a8e6a55"}},"stdin":false}""";
            try (var frames = sandbox.stream(
                    "process.Process/Start",
                    "application/connect+json",
                    request.getBytes(StandardCharsets.UTF_8),
                    "Authorization",
                    "Basic cm9vdDo=")) {
                assertThat(frames.next().text()).contains("\"start\"");
                assertThat(frames.next().text()).contains("\"exit status 0\"");
            }
            var token = sandbox.send(sandbox.envd("/files?path=/etc/mcp-gateway/.token&username=root")
                    .GET());
            assertThat(new String(token.body(), StandardCharsets.UTF_8))
                    .isEqualTo("0e7a1d0c-7f0a-4c7e-9a35-0f1c0a8e6a55");
            try (var client = Cay.with(Settings.from(cay.environment(OwnCay.Mode.URL)))) {
                assertThat(settled(client.connect(sandbox.id()), "githubOfficial", "ready"))
                        .contains("image ghcr.io/github/github-mcp-server");
            }
        }
    }

    /// The blocks of JavaScript are one program, whose comments say what it prints.
    @Test
    void thePageSaysWhatIsPrinted() throws Exception {
        String page = Files.readString(Path.of("../docs/mcp.md"));
        String program = Pattern.compile("```js\n(.*?)```", Pattern.DOTALL)
                .matcher(page)
                .results()
                .map(block -> block.group(1))
                .collect(Collectors.joining("\n"));
        var expected = Pattern.compile("console\\.log\\(.*\\) // (.*)")
                .matcher(program)
                .results()
                .map(found -> found.group(1))
                .toList();
        assertThat(expected).hasSize(3);
        var modules = Files.createDirectories(directory.resolve("node_modules"));
        for (var client : List.of(NpmClient.e2b(), NpmClient.install("@modelcontextprotocol/sdk", "1.32.2"))) {
            for (String name : List.of("e2b", "@modelcontextprotocol")) {
                var module = client.directory().resolve("node_modules").resolve(name);
                if (Files.isDirectory(module)) {
                    Files.createSymbolicLink(modules.resolve(name), module);
                }
            }
        }
        var environment = new HashMap<>(cay.environment(OwnCay.Mode.DOMAIN));
        environment.putAll(Map.of("NOTION_TOKEN", "ntn_token", "GITHUB_TOKEN", "ghp_token"));
        var file = Files.writeString(directory.resolve("page.mjs"), program);
        var printed = output(
                NpmClient.e2b().program(environment, "node", file.toString()).directory(directory.toFile()));
        assertThat(printed.lines()).containsSubsequence(expected);
    }

    @Test
    void imagesAreCarriedIntoAClosedNetwork() throws Exception {
        var carried = directory.resolve("carried").toString();
        assertThat(output(cay.cay("mcp", "catalog", "fetch", "sonarqube", "--to", carried)))
                .contains("mcp/sonarqube", "sha256:");
        try (var alone = start("");
                var client = Cay.with(Settings.from(alone.environment(OwnCay.Mode.URL)))) {
            assertThat(output(alone.cay("mcp", "catalog", "import", carried))).contains("sonarqube");
            try (var sandbox = client.create(sonarqube())) {
                assertThat(settled(sandbox, "sonarqube", "ready")).contains("image mcp/sonarqube");
            }
        }
    }

    /// A registry that takes connections and never answers: whoever starts the gateway does not wait for it.
    @Test
    void aRegistryThatHangsHoldsNobodyUp() throws Exception {
        try (var silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
                var patient = start("docker.io=http://127.0.0.1:" + silent.getLocalPort());
                var client = Cay.with(Settings.from(patient.environment(OwnCay.Mode.URL)));
                var sandbox = client.create(sonarqube())) {
            assertThat(status(sandbox, "sonarqube"))
                    .as("when the sandbox is there, the image is not")
                    .contains("\"starting\"");
        }
    }

    private static NewSandbox sonarqube() {
        return NewSandbox.usual()
                .withMcp(Map.of("sonarqube", Map.of("token", "t", "url", "https://sonar.example.org", "org", "o")));
    }

    /// How it is with one server, as soon as it is so.
    private static String settled(Sandbox sandbox, String key, String state) {
        var now = new AtomicReference<>("");
        Await.until(() -> "%s becomes %s: %s".formatted(key, state, now), () -> {
            now.set(status(sandbox, key));
            return now.get().contains("\"state\":\"%s\"".formatted(state));
        });
        return now.get();
    }

    private static String status(Sandbox sandbox, String key) {
        var told = sandbox.commands().run("mcp-gateway status").stdout();
        return JsonMapper.shared().readTree(told).at("/servers/" + key).toString();
    }

    private String output(ProcessBuilder program) throws Exception {
        var file = Files.createTempFile(directory, "output", ".txt");
        var process =
                program.redirectErrorStream(true).redirectOutput(file.toFile()).start();
        boolean ended = process.waitFor(PROGRAM_MINUTES, TimeUnit.MINUTES);
        process.destroyForcibly();
        String output = Files.readString(file);
        assertThat(ended).as("it ends: " + output).isTrue();
        assertThat(process.exitValue()).as(output).isZero();
        return output;
    }
}
