package dev.cay.node.mcp;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Finding, adding, removing and calling servers by the tools of the gateway, against servers that are real.
@Timeout(120)
@Fast
final class MetaToolsTest {
    private static final String KEY = """
              guarded:
                title: The guarded
                category: tests
                launch: {remote: {url: '%s', headers: {Authorization: 'Bearer ${env.GUARDED_KEY}'}}}
                options: {apiKey: {kind: secret, env: GUARDED_KEY, required: true}, level: {kind: setting}}
            """;
    private static final String RULES = """
            mcp:
              servers:
                birds: {tools: {deny: [secret*]}}
                closed: {disabled: true}
            """;

    @TempDir
    private Path directory = Path.of("unset");

    private SmallServer birds;
    private SmallServer fish;
    private SmallGateways world;

    @BeforeEach
    void begin() throws Exception {
        birds = new SmallServer("sing", "secret-nest", "slow");
        fish = new SmallServer("swim", "mcp-exec");
        world = world(MetaChoice.ON);
    }

    private SmallGateways world(MetaChoice choice) throws Exception {
        String servers = "servers:\n"
                + SmallGateways.entry("birds", birds.url())
                + SmallGateways.entry("fish", fish.url())
                + SmallGateways.entry("closed", fish.url())
                + SmallGateways.entry("gone", "http://127.0.0.1:9/")
                + KEY.formatted(fish.url());
        return new SmallGateways(directory, choice, servers, RULES + "    fish: {tools: {unprefixed: true}}\n");
    }

    @AfterEach
    void end() {
        world.close();
        birds.close();
        fish.close();
    }

    @Test
    void areThereWhenTheOperatorOrTheUserWantsThem() throws Exception {
        try (var client = new SmallClient(world.start("{\"birds\": {}}", null))) {
            assertThat(client.tools()).isEqualTo("mcp-find mcp-add mcp-remove mcp-exec birds-sing birds-slow");
        }
        try (var client = new SmallClient(world.start("{\"birds\": {}}", "off"))) {
            assertThat(client.tools()).isEqualTo("birds-sing birds-slow");
            assertThat(client.answer("tools/call", SmallClient.calling("mcp-find", "{}"))
                            .path("error")
                            .path("code")
                            .asInt())
                    .isEqualTo(-32602);
        }
        try (var client = new SmallClient(world.start("{\"birds\": {}}", "only"))) {
            assertThat(client.tools()).isEqualTo("mcp-find mcp-add mcp-remove mcp-exec");
            assertThat(client.answer("tools/call", SmallClient.calling("birds-sing", "{}"))
                            .path("error")
                            .path("message")
                            .asString())
                    .contains("mcp-exec");
        }
    }

    @Test
    void findServersWithAllThatIsNeededToAddThem() throws Exception {
        try (var client = new SmallClient(world.start("{\"birds\": {}}", null))) {
            var found = client.call("mcp-find", "{\"query\": \"birds fish guarded closed\", \"limit\": 50}");
            var servers = found.path("structuredContent").path("servers");
            assertThat(servers.valueStream()
                            .map(server -> "%s %s %s %s"
                                    .formatted(
                                            server.path("key").asString(),
                                            server.path("startable"),
                                            server.path("added"),
                                            server.path("required"))))
                    .containsExactlyInAnyOrder(
                            "birds true true []",
                            "closed false false []",
                            "fish true false []",
                            "guarded true false [\"apiKey\"]");
            assertThat(SmallClient.text(found))
                    .contains("guarded: The guarded; needs apiKey (secret); can be added", "cannot be started here");
            assertThat(client.call("mcp-find", "{\"query\": \"birds fish\", \"limit\": 1}")
                            .path("structuredContent")
                            .path("servers")
                            .size())
                    .isEqualTo(1);
        }
    }

    /// Who does not see tools finds them with what they take.
    @Test
    void findToolsThatAreNotListed() throws Exception {
        try (var client = new SmallClient(world.start("{\"birds\": {}}", "only"))) {
            var tools = client.call("mcp-find", "{\"query\": \"sing\"}")
                    .path("structuredContent")
                    .path("tools");
            assertThat(tools.size()).isEqualTo(1);
            assertThat(tools.path(0).path("name").asString()).isEqualTo("birds-sing");
            assertThat(tools.path(0).path("inputSchema").isObject()).isTrue();
        }
    }

    @Test
    void addAndRemoveForAllClientsAndForGood() throws Exception {
        var gateway = world.start("{\"birds\": {}}", null);
        try (var client = new SmallClient(gateway);
                var other = new SmallClient(gateway)) {
            var added = client.call("mcp-add", "{\"name\": \"guarded\", \"options\": {\"apiKey\": \"hunter2\"}}");
            assertThat(SmallClient.text(added))
                    .isEqualTo("guarded was added. Its tools: guarded-swim, guarded-mcp-exec");
            assertThat(added.path("structuredContent").path("tools").toString())
                    .isEqualTo("[\"guarded-swim\",\"guarded-mcp-exec\"]");
            assertThat(other.hears("notifications/tools/list_changed")).isTrue();
            assertThat(other.tools()).contains("guarded-swim");
            assertThat(SmallClient.text(other.call("guarded-swim", "{\"a\": 1}")))
                    .isEqualTo("{\"a\":1}");
        }
        assertThat(String.join("\n", world.log))
                .contains("guarded: added by a client")
                .doesNotContain("hunter2");
        world.close();

        world = world(MetaChoice.ON);
        try (var client = new SmallClient(world.recall())) {
            assertThat(client.tools()).contains("guarded-swim", "birds-sing", "mcp-exec");
            assertThat(SmallClient.text(client.call("mcp-remove", "{\"name\": \"guarded\"}")))
                    .isEqualTo("guarded was removed.");
            assertThat(client.hears("notifications/tools/list_changed")).isTrue();
            assertThat(client.tools()).doesNotContain("guarded");
            assertThat(client.call("mcp-remove", "{\"name\": \"guarded\"}")
                            .path("isError")
                            .asBoolean())
                    .isTrue();
        }
        world.close();

        world = world(MetaChoice.ON);
        try (var client = new SmallClient(world.recall())) {
            assertThat(client.tools()).doesNotContain("guarded").contains("birds-sing");
        }
    }

    @Test
    void theUsersChoiceOutlivesARestart() throws Exception {
        world.start("{\"birds\": {}}", "only");
        world.close();
        world = world(MetaChoice.OFF);
        try (var client = new SmallClient(world.recall())) {
            assertThat(client.tools()).isEqualTo("mcp-find mcp-add mcp-remove mcp-exec");
        }
    }

    @ParameterizedTest(name = "{0} {1}")
    @CsvSource(
            delimiter = '#',
            quoteCharacter = '`',
            value = {
                "mcp-add # {} # name must be a text",
                "mcp-add # {\"name\": 7} # name must be a text",
                "mcp-add # {\"name\": \"fish\", \"options\": \"{}\"} # options must be an object",
                "mcp-add # {\"name\": \"fish\", \"options\": [1]} # options must be an object",
                "mcp-add # {\"name\": \"gaurded\"} # gaurded is not in the catalog; did you mean guarded?",
                "mcp-add # {\"name\": \"github/a/b\", \"options\": {\"runCmd\": \"x\"}} # github/a/b is not in the catalog",
                "mcp-add # {\"name\": \"guarded\"} # missing: mcp.guarded.apiKey",
                "mcp-add # {\"name\": \"guarded\", \"options\": {\"apiKey\": {}}} # mcp.guarded.apiKey must be a text",
                "mcp-add # {\"name\": \"closed\"} # mcp.closed is switched off",
                "mcp-add # {\"name\": \"birds\"} # birds exists already",
                "mcp-add # {\"name\": \"gone\"} # gone was added and does not start",
                "mcp-remove # {\"name\": \"fish\"} # fish is no server of this gateway; it has birds",
                "mcp-find # {} # query must be a text",
                "mcp-find # {\"query\": \"x\", \"limit\": \"3\"} # limit must be a whole number from 1 to 50",
                "mcp-find # {\"query\": \"x\", \"limit\": 51} # limit must be a whole number from 1 to 50",
                "mcp-exec # {\"name\": \"birds-sng\"} # no server has the tool birds-sng; did you mean birds-sing?",
                "mcp-exec # {\"name\": \"birds-secret-nest\"} # no server has the tool birds-secret-nest",
                "mcp-exec # {\"name\": \"mcp-remove\"} # no server has the tool mcp-remove",
                "mcp-exec # {\"name\": \"birds-sing\", \"arguments\": [1]} # arguments must be an object"
            })
    void sayWhatIsWrong(String tool, String arguments, String message) throws Exception {
        try (var client = new SmallClient(world.start("{\"birds\": {}}", null))) {
            var result = client.call(tool, arguments);
            assertThat(SmallClient.text(result)).startsWith(message);
            assertThat(result.path("isError").asBoolean()).isTrue();
        }
    }

    @Test
    void optionsWithoutEffectAreTold() throws Exception {
        try (var client = new SmallClient(world.start("{}", null))) {
            var added = client.call(
                    "mcp-add", "{\"name\": \"guarded\", \"options\": {\"apiKey\": \"k\", \"levle\": \"x\"}}");
            assertThat(SmallClient.text(added)).contains("did you mean level?");
            assertThat(added.path("isError").asBoolean()).isFalse();
        }
    }

    /// A server without a prefix that has a tool of the same name.
    @Test
    void keepTheirNames() throws Exception {
        try (var client = new SmallClient(world.start("{\"fish\": {}}", null))) {
            assertThat(client.tools()).isEqualTo("mcp-find mcp-add mcp-remove mcp-exec swim mcp-exec_2");
            assertThat(SmallClient.text(
                            client.call("mcp-exec", "{\"name\": \"mcp-exec_2\", \"arguments\": {\"a\": 2}}")))
                    .isEqualTo("{\"a\":2}");
        }
    }

    @Test
    void callsThroughThemAreLikeOthers() throws Exception {
        try (var client = new SmallClient(world.start("{\"birds\": {}}", "only"))) {
            assertThat(SmallClient.text(
                            client.call("mcp-exec", "{\"name\": \"birds-sing\", \"arguments\": {\"a\": 1}}")))
                    .isEqualTo("{\"a\":1}");
            assertThat(birds.next("tools/call").path("params").path("name").asString())
                    .isEqualTo("sing");
            assertThat(new String(world.meters.page(null).text(), StandardCharsets.UTF_8))
                    .contains("cay_mcp_calls_total{outcome=\"ok\",server=\"birds\",tool=\"sing\"} 1");
            assertThat(String.join("\n", world.log)).contains("birds: call of sing done");

            var params = SmallClient.calling("mcp-exec", "{\"name\": \"birds-slow\"}");
            params.putObject("_meta").put("progressToken", "mine");
            var slow = client.ask("tools/call", params);
            var progress = slow.before().poll(1, TimeUnit.MINUTES);
            assertThat(progress).isNotNull();
            assertThat(progress.params().path("progressToken").asString()).isEqualTo("mine");
            long id = birds.next("tools/call").path("id").asLong();
            client.callOff(slow);
            assertThat(birds.next("notifications/cancelled")
                            .path("params")
                            .path("requestId")
                            .asLong())
                    .isEqualTo(id);
        }
    }

    /// What lies on disk is the successor's, whatever clients of the one before still want.
    @Test
    void aGatewayThatWasReplacedChangesNothing() throws Exception {
        var before = world.start("{\"birds\": {}}", null);
        var after = world.start("{\"fish\": {}}", null);
        byte[] kept = Files.readAllBytes(directory.resolve("known/mcp.sealed"));
        try (var late = new SmallClient(before);
                var client = new SmallClient(after)) {
            assertThat(SmallClient.text(
                            late.call("mcp-add", "{\"name\": \"guarded\", \"options\": {\"apiKey\": \"k\"}}")))
                    .contains("was replaced");
            assertThat(SmallClient.text(late.call("mcp-remove", "{\"name\": \"birds\"}")))
                    .contains("was replaced");
            assertThat(Files.readAllBytes(directory.resolve("known/mcp.sealed")))
                    .isEqualTo(kept);
            assertThat(client.tools()).contains("swim").doesNotContain("birds", "guarded");
        }
    }

    /// The one that was started last is what lies on disk, however the others hurried.
    @Test
    void startingAndAddingAtTheSameTimeLeavesOneTruth() throws Exception {
        for (int round = 0; round < 100; round++) {
            var before = world.start("{}", null);
            var client = new SmallClient(before);
            // A client that has left waits for no list of the server's tools.
            client.close();
            var adding = client.ask("tools/call", SmallClient.calling("mcp-add", "{\"name\": \"birds\"}"));
            var after = world.start("{\"fish\": {}}", null);
            adding.get();
            assertThat(world.recall()).as("round %d", round).isSameAs(after);
        }
    }

    /// A snapshot was put in its place, which nobody has read yet.
    @Test
    void settingsFromElsewhereAreNotWrittenOver() throws Exception {
        var gateway = world.start("{\"birds\": {}}", null);
        var other = new byte[] {1, 2, 3};
        Files.write(directory.resolve("known/mcp.sealed"), other);
        try (var client = new SmallClient(gateway)) {
            assertThat(SmallClient.text(client.call("mcp-add", "{\"name\": \"fish\"}")))
                    .contains("was replaced");
            assertThat(client.tools()).doesNotContain("swim");
        }
        assertThat(Files.readAllBytes(directory.resolve("known/mcp.sealed"))).isEqualTo(other);
    }
}
