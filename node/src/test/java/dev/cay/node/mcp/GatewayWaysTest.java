package dev.cay.node.mcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.http.Json;
import dev.cay.node.mcp.catalog.LaunchPlan;
import dev.cay.node.mcp.catalog.ServerLaunch;
import dev.cay.node.mcp.remote.RemoteCredentials;
import dev.cay.node.mcp.remote.RemoteHome;
import dev.cay.testing.Fast;
import dev.cay.web.Addresses;
import dev.cay.web.Dialer;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.node.Egress;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/// Servers that can be started in several ways, and what clients and operators are told of that.
@Timeout(180)
@Fast
final class GatewayWaysTest {
    @TempDir
    private Path directory = Path.of("unset");

    private SmallServer birds;
    private SmallServer fish;
    private SmallGateways world;
    private final Dialer dialer = new Dialer(Addresses.allowing(List.of("127.0.0.1")), Map.of());

    @BeforeEach
    void begin() throws Exception {
        birds = new SmallServer("sing");
        fish = new SmallServer("swim");
        world = new SmallGateways(directory, MetaChoice.OFF, """
                servers:
                  lone: {title: Lone, category: tests, launch: {image: {name: some/lone}}}
                  pair:
                    title: Pair
                    category: tests
                    launch: {image: {name: some/pair}, remote: {url: '%s'}}
                  both:
                    title: Both
                    category: tests
                    launch: {remote: {url: '%s'}, image: {name: some/both, hosts: ['api.example:443']}}
                """.formatted(birds.url(), birds.url()), "");
    }

    @AfterEach
    void end() {
        world.close();
        dialer.close();
        birds.close();
        fish.close();
    }

    private static JsonNode server(McpGateway gateway, String key) {
        return gateway.status().path("servers").path(key);
    }

    @Test
    void tellsWhichWayWasTakenAndWhyNotTheOthers() throws Exception {
        var gateway = world.start("{\"pair\": {}, \"lone\": {}}", null);
        try (var client = new SmallClient(gateway)) {
            assertThat(client.tools()).isEqualTo("pair-sing");
        }
        var url = URI.create(birds.url());
        assertThat(server(gateway, "pair")).isEqualTo(Json.mapper().readTree("""
                {"state": "ready", "tools": 1, "way": "remote 127.0.0.1", "network": "internet",
                 "hosts": ["127.0.0.1:%d"],
                 "otherWays": [{"way": "image some/pair", "reason": "images are not started here"}]}
                """.formatted(url.getPort())));
        var lone = server(gateway, "lone");
        assertThat(lone.path("state").asString()).isEqualTo("failed");
        assertThat(lone.path("reason").asString()).isEqualTo("images are not started here");
        assertThat(lone.has("way")).isFalse();
    }

    /// No internet, so no remote server: the image is there, and its own home decides what it may reach.
    @Test
    void takesAnotherWayWhenTheSandboxIsBarredFromTheInternet() throws Exception {
        var image = new LaunchPlan.Remote(URI.create(fish.url()), ServerLaunch.Transport.STREAMABLE_HTTP, Map.of());
        world.others.put("image some/both", new RemoteHome("both", image, dialer, RemoteCredentials.NONE, () -> true));
        var gateway = world.start("{\"both\": {}}", null);
        try (var client = new SmallClient(gateway)) {
            assertThat(client.tools()).isEqualTo("both-sing");
            assertThat(server(gateway, "both").path("otherWays").toString())
                    .isEqualTo("[{\"way\":\"image some/both\"}]");
            birds.heard.clear();
            world.online.set(false);
            world.gateways.setEgress(SmallGateways.ID, Egress.closed());
            assertThat(client.tools()).isEqualTo("both-swim");
            assertThat(birds.heard).isEmpty();
            var both = server(gateway, "both");
            assertThat(both.path("way").asString()).isEqualTo("image some/both");
            assertThat(both.path("hosts").toString()).isEqualTo("[\"api.example:443\"]");
            assertThat(both.path("otherWays").path(0).path("reason").asString()).contains("may not reach the internet");
        }
    }

    @Test
    void tellsClientsOnceInALogMessageThatAServerCannotBeUsed() throws Exception {
        var gateway = world.start("{\"lone\": {}, \"pair\": {}}", null);
        try (var client = new SmallClient(gateway);
                var quiet = new SmallClient(gateway)) {
            var level = Json.mapper().createObjectNode().put("level", "error");
            assertThat(quiet.answer("logging/setLevel", level).has("result")).isTrue();
            // The server may have failed before the client said what it wants to hear.
            var _ = quiet.told("notifications/message");
            for (int i = 0; i < 3; i++) {
                assertThat(client.tools()).isEqualTo("pair-sing");
                assertThat(quiet.tools()).isEqualTo("pair-sing");
            }
            assertThat(client.told("notifications/message"))
                    .singleElement()
                    .satisfies(message ->
                            assertThat(message.params()).isEqualTo(Json.mapper().readTree("""
                            {"level": "warning", "logger": "lone",
                             "data": "lone cannot be used: images are not started here"}""")));
            assertThat(quiet.told("notifications/message")).isEmpty();
        }
        assertThat(world.log).anyMatch(line -> line.contains("lone: images are not started here"));
    }

    @Test
    void fetchesInAdvanceWhatTheFirstWayNeedsForWhichThatCanBeHad() {
        var asked = new AtomicReference<String>("");
        world.fetch = plan -> {
            asked.set(plan.way());
            throw new CayException(ErrorKind.UNAVAILABLE, "no registry");
        };
        world.fetches.pull(SmallGateways.ID, List.of("pair"));
        assertThat(asked.get()).isEqualTo("image some/pair");
        world.fetches.pull(SmallGateways.ID, List.of("both"));
        assertThat(asked.get()).as("nothing is fetched for a remote way").isEqualTo("image some/pair");
        assertThatThrownBy(() -> world.fetches.pull(SmallGateways.ID, List.of("lone")))
                .hasMessage("no registry");
    }

    /// What a repository's server needs stands in the settings of the gateway alone.
    @Test
    void fetchesInAdvanceWhatARepositoryNeeds() {
        var asked = new AtomicReference<String>("");
        world.fetch = plan -> asked.set(plan.toString());
        var keys = List.of("github/acme/tool");
        assertThatThrownBy(() -> world.fetches.pull(SmallGateways.ID, keys))
                .hasMessage("github/acme/tool is no server of this sandbox's gateway; begin one that has it, with its"
                        + " installCmd");
        world.start("{'github/acme/tool': {'installCmd': 'make token', 'runCmd': 'node x'}}".replace('\'', '"'), null);
        world.fetches.pull(SmallGateways.ID, keys);
        assertThat(asked.get())
                .contains("Repository[github/acme/tool, 1 arguments]")
                .doesNotContain("make token");
    }
}
