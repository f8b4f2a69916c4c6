package dev.cay.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.cay.platform.NpmClient;
import dev.cay.platform.OwnCay;
import dev.cay.sdk.Cay;
import dev.cay.sdk.Command;
import dev.cay.sdk.NewSandbox;
import dev.cay.sdk.Sandbox;
import dev.cay.sdk.Settings;
import dev.cay.testing.NeedsRoot;
import dev.cay.wire.SystemPorts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Gateways of sandboxes, with servers of all kinds behind them.
@TestInstance(Lifecycle.PER_CLASS)
@Timeout(1800)
@NeedsRoot
final class GatewayTest {
    private static final List<String> HOSTILE = List.of(
            "silent-call",
            "wrong-ids",
            "twice",
            "flood",
            "flood-at-start",
            "progress-flood",
            "long-line",
            "endless-line",
            "exit-after-call",
            "exit-on-call",
            "exit-at-start",
            "close-stdout",
            "stderr-flood",
            "garbage",
            "deep",
            "sampling",
            "unknown-requests",
            "evil-names",
            "restless",
            "old-revision");

    private static final String TOKEN = "conformance";

    private OwnCay platform;
    private Cay cay;
    private NodeProgram elsewhere;
    private ImageShelf images;
    private HttpServer scrubber;

    /// The address of a stand-in for Notion's API is known when its sandbox is there: the platform starts again with
    /// it, and the sandbox stays.
    @BeforeAll
    void begin(@TempDir Path directory) throws Exception {
        elsewhere = NodeProgram.start(Map.of(), "mcp/fixtures-server.mjs", "--http", "0");
        var world = new GatewayWorld()
                .script("fixtures", "fixtures-server.mjs")
                .remote("fixturesElsewhere", elsewhere.firstLine())
                .script("githubOfficial", "github-standin.mjs")
                .named("githubOfficial", "github-official")
                .secret("githubOfficial", "githubPersonalAccessToken", "GITHUB_PERSONAL_ACCESS_TOKEN")
                .script("watched", "fixtures-server.mjs");
        for (String mode : HOSTILE) {
            world.script("hostile_" + mode.replace('-', '_'), "hostile-server.mjs", mode);
            world.image("image_" + mode.replace('-', '_'), "mcp/hostile", mode);
        }
        images = ImageShelf.start(directory).script("mcp/hostile", "hostile-server.mjs");
        platform = world.start(directory, images);
        platform.awaitTemplate("mcp-gateway");
        platform.awaitTemplate("code-interpreter-v1");
        cay = Cay.with(Settings.from(platform.environment(OwnCay.Mode.URL)));
        var api = cay.create(NewSandbox.of("base").livingFor(Duration.ofMinutes(30)));
        api.files().write("api.mjs", Files.readString(Path.of("src/test/js/mcp/notion-api.mjs")));
        api.commands().start(Command.of("exec node api.mjs 8000").withoutLimit());
        serveRepositories(api);
        world.notion("https://" + api.host(8000)).write(directory);
        scrubber = GatewayWorld.scrubber();
        // A suite calls the tools of the fixtures by their own names.
        Files.writeString(
                platform.directory().resolve("cay.yaml"),
                """

                mcp:
                  repositories: https://%s/
                  repositoryTokens: [github/private/trusted=%s]
                  remoteAddresses: [127.0.0.1]
                  servers:
                    fixtures: {tools: {unprefixed: true}}
                    fixturesElsewhere: {tools: {unprefixed: true}}
                  interceptors:
                    - {when: before, exec: [bash, %s], servers: [watched]}
                    - {when: after, http: 'http://127.0.0.1:%d/', servers: [watched]}
                """.formatted(
                                api.host(8080),
                                token(directory),
                                Path.of("src/test/js/mcp/no-simple-text.sh").toAbsolutePath(),
                                scrubber.getAddress().getPort()),
                StandardOpenOption.APPEND);
        platform.crash();
        platform.startAgain();
    }

    /// Of the git server, where nobody but the platform reads it.
    private static Path token(Path directory) throws IOException {
        var file = Files.writeString(directory.resolve("git.token"), "robot:secret\n");
        return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    }

    /// By git's own server. What is under `private` asks for a password.
    private static void serveRepositories(Sandbox host) throws Exception {
        for (String file : List.of("git-server.py", "mcp/greeter-server.mjs")) {
            var source = Path.of("src/test/js").resolve(file);
            host.files().write(source.getFileName().toString(), Files.readString(source));
        }
        host.commands().run(Command.of("""
                set -e
                git init --quiet --initial-branch main greeter
                mv greeter-server.mjs greeter/server.mjs
                cd greeter
                git add .
                git -c user.name=Robot -c user.email=robot@example.com commit --quiet -m first
                for name in cay/greeter cay/broken private/greeter private/trusted; do
                    git clone --quiet --bare . ~/repositories/$name.git
                done
                """));
        host.commands()
                .start(Command.of("exec python3 git-server.py ~/repositories robot:secret")
                        .withoutLimit());
    }

    @AfterAll
    void end() throws Exception {
        cay.close();
        platform.close();
        elsewhere.close();
        images.close();
        scrubber.stop(0);
    }

    private Map<String, String> environment() throws Exception {
        var environment = new HashMap<>(platform.environment(OwnCay.Mode.DOMAIN));
        environment.put("E2B_API_URL", platform.url().toString());
        environment.put(
                "CAY_MCP_CLIENT",
                NpmClient.install("@modelcontextprotocol/sdk", "1.32.2")
                        .directory()
                        .toString());
        environment.put(
                "CAY_NEW_CLIENT",
                NpmClient.install("@modelcontextprotocol/client", "2.4.0")
                        .directory()
                        .toString());
        return environment;
    }

    private List<DynamicNode> run(String client, String file) throws Exception {
        return new ClientTests(NpmClient.install("e2b", client))
                .run("mcp/" + file, environment())
                .cases(platform);
    }

    @TestFactory
    List<DynamicNode> theQuickstart() throws Exception {
        return run("2.51.0", "quickstart.test.mjs");
    }

    @TestFactory
    List<DynamicNode> theQuickstartWithItsOlderNames() throws Exception {
        return run("2.3.3", "quickstart.test.mjs");
    }

    @TestFactory
    List<DynamicNode> allThatServersAndClientsDo() throws Exception {
        return run("2.51.0", "gateway.test.mjs");
    }

    @Test
    void theJavaSdkFindsItsGateway() {
        try (Sandbox sandbox = cay.create(NewSandbox.usual().withMcp(Map.of("fixtures", Map.of())))) {
            String health = sandbox.mcpUrl().resolve("/health").toString();
            assertThat(sandbox.commands().run("curl -fsS " + health).stdout()).doesNotContain("fixtures");
            var command = Command.of("curl -fsS -H \"Authorization: Bearer $TOKEN\" " + health)
                    .with("TOKEN", sandbox.mcpToken());
            assertThat(sandbox.commands().run(command).stdout()).contains("fixtures");
            assertThat(cay.connect(sandbox.id()).mcpToken()).isEqualTo(sandbox.mcpToken());
        }
    }

    @TestFactory
    List<DynamicNode> serversFromRepositories() throws Exception {
        return run("2.51.0", "repository.test.mjs");
    }

    @TestFactory
    List<DynamicNode> allThatNewerClientsDo() throws Exception {
        return run("2.51.0", "gateway-clients.test.mjs");
    }

    /// As a person would use it from a command line.
    @ParameterizedTest
    @ValueSource(strings = {"legacy", "modern"})
    void theInspectorSeesWhatIsBehindIt(String era) throws Exception {
        try (Sandbox sandbox = withGateway("fixtures")) {
            var inspector = new Inspector(url(sandbox), TOKEN, era);
            assertThat(inspector.names("tools")).contains("test_simple_text", "test_image_content");
            assertThat(inspector
                            .ask("tools/call", "--tool-name", "test_simple_text")
                            .toString())
                    .contains("simple text response");
            assertThat(inspector.names("prompts")).contains("test_simple_prompt");
            assertThat(inspector
                            .ask("resources/read", "--uri", "test://static-text")
                            .toString())
                    .contains("static text resource");
        }
    }

    /// Whatever the fixtures pass alone, they pass behind the gateway. Only over HTTP, not on a pipe, can a server cut
    /// a stream in the middle of a call.
    @ParameterizedTest
    @CsvSource({"fixtures, 82", "fixturesElsewhere, 83"})
    void theSuiteFindsNothingThatTheGatewayTakesAway(String server, int passedAlone) throws Exception {
        var suite = Conformance.install();
        try (Sandbox sandbox = withGateway(server)) {
            var token = Map.of("TOKEN", TOKEN);
            var old = withoutChance(() -> suite.run(url(sandbox), token, "2025-11-25"));
            assertThat(old.complaints()).as(old.output()).isEmpty();
            assertThat(old.passed()).as(old.output()).isGreaterThanOrEqualTo(passedAlone);

            var now = withoutChance(() -> {
                var found = suite.run(url(sandbox), token, "2026-07-28");
                found.scenarios().keySet().removeIf(scenario -> scenario.startsWith("tasks-"));
                return found;
            });
            assertThat(now.complaints()).as(now.output()).isEmpty();
            assertThat(now.passed()).as(now.output()).isGreaterThanOrEqualTo(152);
        }
    }

    /// The suite has limits of its own, which a busy machine does not always keep: what it complains of is looked for
    /// twice.
    private static Conformance.Report withoutChance(Callable<Conformance.Report> run) throws Exception {
        var first = run.call();
        return first.complaints().isEmpty() ? first : run.call();
    }

    private Sandbox withGateway(String server) {
        var sandbox = cay.create(NewSandbox.of("mcp-gateway").livingFor(Duration.ofMinutes(10)));
        sandbox.commands()
                .run(Command.of("sudo mcp-gateway --config '{\"%s\": {}}' --token %s".formatted(server, TOKEN)));
        return sandbox;
    }

    /// Without TLS, whose handshake would refuse wrong host names before the gateway hears of them.
    private String url(Sandbox sandbox) {
        return "http://%s:%d/mcp".formatted(sandbox.host(SystemPorts.MCP).replaceFirst(":.*", ""), platform.port());
    }
}
