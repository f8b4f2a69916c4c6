package dev.cay.acceptance;

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
        try (var registry = OwnRegistry.start(directory.resolve("registry"), false)) {
            push(registry, "mcp/sonarqube", "tell", "SONARQUBE_TOKEN", "SONARQUBE_ORG", "SONARQUBE_URL");
            push(registry, "mcp/stripe", "list_customers", "STRIPE_SECRET_KEY");
            push(registry, "github/github-mcp-server", "create_issue", "GITHUB_PERSONAL_ACCESS_TOKEN");
            String mirrors = Stream.of("docker.io", "ghcr.io")
                    .map(host -> "%s=http://%s".formatted(host, registry.host()))
                    .reduce((one, other) -> one + "," + other)
                    .orElseThrow();
            var ways = new HashMap<>(BY_NPM);
            List.of("sonarqube", "stripe", "githubOfficial").forEach(key -> ways.put(key, "image"));
            return Stream.concat(
                            run("2.51.0", Map.of("images.mirrors", mirrors), ways).stream(),
                            run("2.3.3", Map.of("images.mirrors", mirrors), ways).stream())
                    .toList();
        }
    }

    @TestFactory
    List<DynamicNode> withoutARegistry() throws Exception {
        var ways = new HashMap<>(BY_NPM);
        List.of("sonarqube", "stripe", "githubOfficial").forEach(key -> ways.put(key, ""));
        return run("2.51.0", Map.of(), ways);
    }

    private List<DynamicNode> run(String client, Map<String, String> settings, Map<String, String> ways)
            throws Exception {
        var all = new HashMap<>(settings);
        all.put("images.mirrorsOnly", "true");
        all.put("templates.prepare", "mcp-gateway");
        // No remote server is ever reached: the way there ends at a port that nobody has.
        all.put("HTTPS_PROXY", "http://127.0.0.1:9");
        all.put("NO_PROXY", "localhost,127.0.0.1," + npmRegistry());
        try (var cay = OwnCay.start(all)) {
            cay.awaitTemplate("mcp-gateway");
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

    private static String npmRegistry() {
        String url = Programs.ofHost()
                .require(LIMIT, "npm", "config", "get", "registry")
                .strip();
        return URI.create(url.lines().reduce((_, last) -> last).orElse(url)).getHost();
    }

    /// An image that holds one static program, which an operator's registry has under the catalog's name.
    private void push(OwnRegistry registry, String name, String... arguments) throws IOException {
        var work = Files.createTempDirectory(directory, "image");
        var layer = Files.createDirectory(work.resolve("layer"));
        Programs.ofHost()
                .require(
                        LIMIT,
                        "gcc",
                        "-O1",
                        "-static",
                        "-o",
                        layer.resolve("server").toString(),
                        Path.of("src/test/js/mcp/small-server.c")
                                .toAbsolutePath()
                                .toString());
        var settings = RegistrySettings.DEFAULT.withPlainHttp(Set.of(registry.host()));
        try (var images = new Images(
                new LayerStore(work),
                work,
                settings,
                LayerLimits.DEFAULT,
                () -> Images.client(settings).build())) {
            var line = Stream.concat(Stream.of("/server"), Stream.of(arguments)).toList();
            var archive = work.resolve("image.tar");
            try (var out = Files.newOutputStream(archive)) {
                images.write(List.of(layer), Map.of("Entrypoint", line, "User", "1000"), name + ":latest", out);
            }
            var reference = ImageReference.parse(registry.host() + "/" + name);
            images.push(archive, reference, Credentials.none(), (_, _, _) -> {});
        }
    }
}
