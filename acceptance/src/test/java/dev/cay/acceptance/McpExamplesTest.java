package dev.cay.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.node.host.Programs;
import dev.cay.node.image.LayerStore;
import dev.cay.node.image.oci.Credentials;
import dev.cay.node.image.oci.ImageReference;
import dev.cay.node.image.oci.Images;
import dev.cay.node.image.oci.LayerLimits;
import dev.cay.node.image.oci.RegistrySettings;
import dev.cay.platform.NpmClient;
import dev.cay.platform.OwnCay;
import dev.cay.testing.NeedsRoot;
import dev.cay.testing.OwnRegistry;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Test;
import java.util.stream.Collectors;
import java.util.regex.Pattern;
import java.nio.charset.StandardCharsets;
import dev.cay.sdk.Settings;
import dev.cay.sdk.NewSandbox;
import dev.cay.sdk.Cay;
import dev.cay.prove.escape.ProbeFile;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.json.JsonMapper;

/// The sets of MCP servers that E2B's published examples ask for, on a Cay whose operator says nothing about servers.
/// Images come from a registry of the test's own, or from nowhere; nothing outside is called.
@Timeout(1800)
@NeedsRoot
final class McpExamplesTest {
    private static final Duration LIMIT = Duration.ofMinutes(1);

    /// Packages of npm that start with made-up credentials.
    private static final Map<String, String> BY_NPM =
            Map.of("browserbase", "npm", "exa", "npm", "notion", "npm", "github", "npm", "slack", "npm");

    @TempDir
    private Path directory = Path.of("unset");

    @TestFactory
    List<DynamicNode> withARegistry() throws Exception {
        try (var registry = registry()) {
            var settings = Map.of("images.mirrors", mirrors(registry));
            var ways = new HashMap<>(BY_NPM);
            List.of("sonarqube", "stripe", "githubOfficial").forEach(key -> ways.put(key, "image"));
            return Stream.concat(
                            run("2.51.0", settings, ways).stream(),
                            run("2.3.3", settings, ways).stream())
                    .toList();
        }
    }

    @TestFactory
    List<DynamicNode> withoutARegistry() throws Exception {
        var ways = new HashMap<>(BY_NPM);
        List.of("sonarqube", "stripe", "githubOfficial").forEach(key -> ways.put(key, ""));
        return run("2.51.0", Map.of(), ways);
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
        try (var registry = registry();
                var cay = cay(Map.of("images.mirrors", mirrors(registry)))) {
            var environment = new HashMap<>(cay.environment(OwnCay.Mode.DOMAIN));
            environment.putAll(Map.of("NOTION_TOKEN", "ntn_token", "GITHUB_TOKEN", "ghp_token"));
            var printed = output(NpmClient.e2b()
                    .program(
                            environment,
                            "node",
                            Files.writeString(directory.resolve("page.mjs"), program)
                                    .toString())
                    .directory(directory.toFile()));
            assertThat(printed.lines()).containsSubsequence(expected);
        }
    }

    @Test
    void imagesAreCarriedIntoAClosedNetwork() throws Exception {
        var carried = directory.resolve("carried").toString();
        try (var registry = registry();
                var cay = cay(Map.of("images.mirrors", mirrors(registry)))) {
            assertThat(output(cay.cay("mcp", "catalog", "fetch", "sonarqube", "stripe", "--to", carried)))
                    .contains("mcp/sonarqube", "mcp/stripe", "sha256:");
        }
        try (var cay = cay(Map.of())) {
            assertThat(output(cay.cay("mcp", "catalog", "import", carried))).contains("sonarqube", "stripe");
            try (var client = Cay.with(Settings.from(cay.environment(OwnCay.Mode.URL)));
                    var sandbox = client.create(NewSandbox.usual()
                            .withMcp(Map.of(
                                    "sonarqube",
                                    Map.of("token", "t", "url", "https://sonar.example.org", "org", "o"))))) {
                String status = sandbox.commands()
                        .run("for i in $(seq 100); do mcp-gateway status | grep -q '\"ready\"' && break; sleep 0.3; done;"
                                + " mcp-gateway status")
                        .stdout();
                assertThat(status).contains("\"state\":\"ready\"", "mcp/sonarqube");
            }
        }
    }

    private static String output(ProcessBuilder program) throws Exception {
        var process = program.redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isZero();
        return output;
    }

    private List<DynamicNode> run(String client, Map<String, String> settings, Map<String, String> ways)
            throws Exception {
        try (var cay = cay(settings)) {
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
    }

    private static OwnCay cay(Map<String, String> settings) throws Exception {
        var all = new HashMap<>(settings);
        all.put("images.mirrorsOnly", "true");
        all.put("templates.prepare", "mcp-gateway");
        // No remote server is ever reached: the way there ends at a port that nobody has.
        all.put("HTTPS_PROXY", "http://127.0.0.1:9");
        all.put("NO_PROXY", "localhost,127.0.0.1," + npmRegistry());
        var cay = OwnCay.start(all);
        cay.awaitTemplate("mcp-gateway");
        return cay;
    }

    /// A registry with images under the catalog's names.
    private OwnRegistry registry() throws Exception {
        var registry = OwnRegistry.start(directory.resolve("registry"), false);
        push(registry, "mcp/sonarqube", "tell");
        push(registry, "mcp/stripe", "list_customers");
        push(registry, "github/github-mcp-server", "create_issue");
        return registry;
    }

    private static String mirrors(OwnRegistry registry) {
        return Stream.of("docker.io", "ghcr.io")
                .map(host -> "%s=http://%s".formatted(host, registry.host()))
                .collect(Collectors.joining(","));
    }

    private static String npmRegistry() {
        String url = Programs.ofHost()
                .require(LIMIT, "npm", "config", "get", "registry")
                .strip();
        return URI.create(url.lines().reduce((_, last) -> last).orElse(url)).getHost();
    }

    /// An image that holds one static program, an MCP server with one tool, under the catalog's name.
    private void push(OwnRegistry registry, String name, String tool) throws IOException {
        var work = Files.createTempDirectory(directory, "image");
        var layer = Files.createDirectory(work.resolve("layer"));
        var program = ProbeFile.unpack(layer);
        var settings = RegistrySettings.DEFAULT.withPlainHttp(Set.of(registry.host()));
        try (var images = new Images(
                new LayerStore(work), work, settings, LayerLimits.DEFAULT, () -> Images.client(settings)
                        .build())) {
            var line = List.of("/" + program.getFileName(), "mcp", tool);
            var archive = work.resolve("image.tar");
            try (var out = Files.newOutputStream(archive)) {
                images.write(List.of(layer), Map.of("Entrypoint", line, "User", "1000"), name + ":latest", out);
            }
            var reference = ImageReference.parse(registry.host() + "/" + name);
            images.push(archive, reference, Credentials.none(), (_, _, _) -> {});
        }
    }
}
