package dev.cay.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.cay.bench.NpmClient;
import dev.cay.bench.OwnCay;
import dev.cay.sdk.Cay;
import dev.cay.sdk.Command;
import dev.cay.sdk.NewSandbox;
import dev.cay.sdk.Sandbox;
import dev.cay.sdk.Settings;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Gateways of sandboxes, with servers of all kinds behind them.
@TestInstance(Lifecycle.PER_CLASS)
@Timeout(1800)
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

    private OwnCay platform;
    private Cay cay;
    private HttpServer scrubber;

    /// The address of a stand-in for Notion's API is known when its sandbox is there: the platform starts again with
    /// it,
    /// and the sandbox stays.
    @BeforeAll
    void begin(@TempDir Path directory) throws Exception {
        var world = new GatewayWorld()
                .script("fixtures", "fixtures-server.mjs")
                .script("githubOfficial", "github-standin.mjs")
                .named("githubOfficial", "github-official")
                .secret("githubOfficial", "githubPersonalAccessToken", "GITHUB_PERSONAL_ACCESS_TOKEN")
                .script("watched", "fixtures-server.mjs");
        for (String mode : HOSTILE) {
            world.script("hostile_" + mode.replace('-', '_'), "hostile-server.mjs", mode);
        }
        platform = world.start(directory);
        platform.awaitTemplate("mcp-gateway");
        cay = Cay.with(Settings.from(platform.environment(OwnCay.Mode.URL)));
        var api = cay.create(NewSandbox.of("base").livingFor(Duration.ofMinutes(30)));
        api.files().write("api.mjs", Files.readString(Path.of("src/test/js/mcp/notion-api.mjs")));
        api.commands().start(Command.of("exec node api.mjs 8000").withoutLimit());
        world.notion("https://" + api.host(8000)).write(directory);
        scrubber = GatewayWorld.scrubber();
        // A suite calls the tools of the fixtures by their own names.
        Files.writeString(
                platform.directory().resolve("cay.yaml"),
                """

                mcp:
                  servers:
                    fixtures: {tools: {unprefixed: true}}
                  interceptors:
                    - {when: before, exec: [bash, %s], servers: [watched]}
                    - {when: after, http: 'http://127.0.0.1:%d/', servers: [watched]}
                """.formatted(
                                Path.of("src/test/js/mcp/no-simple-text.sh").toAbsolutePath(),
                                scrubber.getAddress().getPort()),
                StandardOpenOption.APPEND);
        platform.crash();
        platform.startAgain();
    }

    @AfterAll
    void end() throws Exception {
        cay.close();
        platform.close();
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

    /// Whatever the fixtures pass alone, they pass behind the gateway.
    @Test
    void theSuiteFindsNothingThatTheGatewayTakesAway() throws Exception {
        var suite = Conformance.install();
        try (Sandbox sandbox = cay.create(NewSandbox.of("mcp-gateway").livingFor(Duration.ofMinutes(10)))) {
            sandbox.commands().run(Command.of("sudo mcp-gateway --config '{\"fixtures\": {}}' --token conformance"));
            // Without TLS, whose handshake would refuse wrong host names before the gateway hears of them.
            String url = "http://%s:%d/mcp".formatted(sandbox.host(50005).replaceFirst(":.*", ""), platform.port());
            var token = Map.of("TOKEN", "conformance");
            var old = suite.run(url, token, "2025-11-25");
            assertThat(old.complaints()).as(old.output()).isEmpty();
            // All but those of a stream that the server itself cuts, which is not the server's to do on a pipe.
            assertThat(old.passed()).isGreaterThanOrEqualTo(80);

            var now = suite.run(url, token, "2026-07-28");
            now.scenarios().keySet().removeIf(scenario -> scenario.startsWith("tasks-"));
            // A server of the older revisions has no name for what it asks of the client.
            assertThat(now.complaints())
                    .as(now.output())
                    .allMatch(complaint -> complaint.contains("missing expected key \"user_name\""));
            assertThat(now.passed()).isGreaterThanOrEqualTo(149);
        }
    }
}
