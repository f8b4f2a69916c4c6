package dev.cay.node.mcp;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.http.HttpListeners;
import dev.cay.http.Json;
import dev.cay.testing.Await;
import dev.cay.testing.Fast;
import dev.cay.wire.node.NodeAuthorizations;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/// Remote servers that want an authorization of their user: how it is had, kept, renewed and lost.
@Fast
final class AuthorizationsTest extends AuthorizationLab {
    @Test
    void aUserAuthorizesAServerAndItsToolsAreThere() throws Exception {
        var gateway = world.start("{\"birds\": {}}", null);
        try (var client = new SmallClient(gateway)) {
            assertThat(client.tools()).isEmpty();
            String link = link(gateway);
            assertThat(link)
                    .startsWith(birds.origin() + "/authorize?response_type=code&client_id=client-1")
                    .contains("code_challenge_method=S256", "scope=read+offline_access");
            var done = world.authorizations.complete(redirect(birds.agree(link)));
            assertThat(done).isEqualTo(new NodeAuthorizations.Authorized(SmallGateways.ID, "birds"));
            assertThat(client.hears("notifications/tools/list_changed")).isTrue();
            assertThat(client.tools()).isEqualTo("birds-sing");
            assertThat(SmallClient.text(client.call("birds-sing", "{}"))).isEqualTo("la");
        }
        var state = state(gateway);
        assertThat(state.path("state").asString()).isEqualTo("ready");
        assertThat(state.has("authorize")).isFalse();
        assertThat(birds.posted.peek()).isEqualTo("/register http://127.0.0.1:3000/mcp/oauth/callback");
        assertThat(String.join("\n", world.log)).doesNotContain("access-", "refresh-", "code-", "state=");
    }

    private static void awaitState(McpGateway gateway, String word) {
        Await.until(
                () -> "the state %s of the server: %s".formatted(word, state(gateway)),
                () -> state(gateway).path("state").asString().equals(word));
    }

    @Test
    void renewsATokenBeforeItExpires() throws Exception {
        birds.lifetime = 120;
        var gateway = authorized();
        try (var client = new SmallClient(gateway)) {
            assertThat(client.tools()).isEqualTo("birds-sing");
            world.later.set(Duration.ofSeconds(90));
            assertThat(SmallClient.text(client.call("birds-sing", "{}"))).isEqualTo("la");
        }
        assertThat(count(birds.posted, "grant_type=refresh_token")).isEqualTo(1);
        assertThat(birds.credentials)
                .filteredOn(shown -> shown.contains("access-"))
                .hasSizeGreaterThan(1);
    }

    /// As many calls as there may be find out at once that the token is not good any more.
    @Test
    void renewsATokenOnceThatTheServerRefuses() throws Exception {
        var gateway = authorized();
        try (var client = new SmallClient(gateway)) {
            assertThat(client.tools()).isEqualTo("birds-sing");
            birds.good.clear();
            var calls = IntStream.range(0, 16)
                    .mapToObj(_ -> client.ask("tools/call", SmallClient.calling("birds-sing", "{}")))
                    .toList();
            for (var call : calls) {
                assertThat(SmallClient.text(call.get().path("result"))).isEqualTo("la");
            }
        }
        assertThat(count(birds.posted, "grant_type=refresh_token")).isEqualTo(1);
    }

    @Test
    void needsAuthorizationAgainWhenTheTokenIsNotRenewed() throws Exception {
        var gateway = authorized();
        birds.good.clear();
        birds.refreshTokens.clear();
        try (var client = new SmallClient(gateway)) {
            assertThat(client.tools()).isEmpty();
            var error = client.answer("tools/call", SmallClient.calling("birds-sing", "{}"));
            assertThat(error.path("error").path("message").asString()).endsWith("; needs authorization: birds");
            assertThat(directory.resolve("small.tokens")).doesNotExist();
            authorize(gateway);
            assertThat(client.hears("notifications/tools/list_changed")).isTrue();
            assertThat(client.tools()).isEqualTo("birds-sing");
        }
        assertThat(count(birds.posted, "/register")).as("registrations").isEqualTo(1);
    }

    @Test
    void keepsTokensSealedOverARestart() throws Exception {
        authorized();
        assertThat(Files.readString(directory.resolve("small.tokens"), StandardCharsets.ISO_8859_1))
                .doesNotContain("access-", "refresh-", "client-");
        assertThat(Files.readString(directory.resolve("mcp.clients"), StandardCharsets.ISO_8859_1))
                .doesNotContain("client-");
        world.close();
        world = world("");
        assertThat(tools(world.recall())).isEqualTo("birds-sing");
        assertThat(count(birds.posted, "grant_type=authorization_code")).isEqualTo(1);
        assertThat(count(birds.posted, "/revoke")).isZero();
    }

    @Test
    void forgetsAndRevokesTokensWithTheSandbox() throws Exception {
        authorized();
        world.gateways.end(SmallGateways.ID);
        Await.until("the token is revoked", () -> count(birds.posted, "/revoke") > 0);
        assertThat(count(birds.posted, "token_type_hint=refresh_token")).isEqualTo(1);
        assertThat(directory.resolve("small.tokens")).doesNotExist();
    }

    @Test
    void usesTheOperatorsRegistrationWhereThereIsNoOther() throws Exception {
        birds.registers = false;
        fails(world.start("{\"birds\": {}}", null), "takes no registrations; let the operator register this Cay");
        world.close();
        world = world("mcp: {servers: {birds: {oauth: {clientId: client-of-ours, scopes: [sing]}}}}\n");
        var gateway = world.start("{\"birds\": {}}", null);
        assertThat(link(gateway)).contains("client_id=client-of-ours&").endsWith("&scope=sing");
        authorize(gateway);
        assertThat(tools(gateway)).isEqualTo("birds-sing");
        world.close();
        world = world(
                "mcp: {servers: {birds: {oauth: {clientId: a, clientSecret: b, issuer: 'https://other.example'}}}}\n");
        birds.good.clear();
        birds.refreshTokens.clear();
        awaitState(world.recall(), "failed");
        assertThat(state(world.recall()).path("reason").asString())
                .contains("not the one that mcp.servers.KEY.oauth names");
        assertThat(String.join("", birds.posted)).doesNotContain("client_secret");
    }

    /// Revision 2025-03-26 has no description of the server itself.
    @Test
    void findsTheAuthorizationServerOnTheSameHost() throws Exception {
        birds.challenge = "";
        birds.instead.put("/.well-known/oauth-protected-resource/mcp", "");
        assertThat(tools(authorized())).isEqualTo("birds-sing");
    }

    @Test
    void asksForMoreWhenTheServerWantsMore() throws Exception {
        var gateway = authorized();
        birds.callScope = "write";
        try (var client = new SmallClient(gateway)) {
            var answer = client.answer("tools/call", SmallClient.calling("birds-sing", "{}"));
            assertThat(answer.path("error").path("message").asString()).contains("birds needs authorization: open ");
            String link = answer.path("error").path("data").path("authorize").asString();
            assertThat(link).contains("&scope=read+offline_access+write");
            world.authorizations.complete(redirect(birds.agree(link)));
            assertThat(SmallClient.text(client.call("birds-sing", "{}"))).isEqualTo("la");
        }
    }

    /// A client that can have its user open an address is asked to.
    @Test
    void asksTheUserThroughTheClient() throws Exception {
        var gateway = world.start("{\"birds\": {}}", null);
        try (var client = new SmallClient(gateway, "{\"elicitation\": {\"url\": {}}}")) {
            assertThat(client.tools()).isEmpty();
            var question = client.asked("elicitation/create");
            var params = question.params();
            assertThat(params.path("mode").asString()).isEqualTo("url");
            assertThat(params.path("url").asString()).isEqualTo(link(gateway));
            assertThat(client.tools()).isEmpty();
            client.answer(question, "{\"action\": \"accept\"}");
            authorize(gateway);
            assertThat(client.asked("notifications/elicitation/complete")
                            .params()
                            .path("elicitationId"))
                    .isEqualTo(params.path("elicitationId"));
            assertThat(client.tools()).isEqualTo("birds-sing");
            birds.callScope = "write";
            var call = client.ask("tools/call", SmallClient.calling("birds-sing", "{}"));
            var during = Objects.requireNonNull(call.before().poll(1, TimeUnit.MINUTES));
            assertThat(during.method()).isEqualTo("elicitation/create");
            client.answer(during, "{\"action\": \"accept\"}");
            world.authorizations.complete(
                    redirect(birds.agree(during.params().path("url").asString())));
            assertThat(SmallClient.text(call.get().path("result"))).isEqualTo("la");
        }
        try (var client = new SmallClient(gateway, "{\"elicitation\": {\"url\": {}}}")) {
            assertThat(client.tools()).isEqualTo("birds-sing");
            birds.callScope = "more";
            var call = client.ask("tools/call", SmallClient.calling("birds-sing", "{}"));
            var during = Objects.requireNonNull(call.before().poll(1, TimeUnit.MINUTES));
            client.answer(during, "{\"action\": \"decline\"}");
            assertThat(call.get().path("error").path("message").asString()).contains("birds needs authorization");
        }
    }

    /// A client of 2026-07-28 gets the question as the result of its call, and comes again.
    @Test
    void asksTheUserByTheResultOfACall() throws Exception {
        var gateway = authorized();
        birds.callScope = "write";
        try (var listeners = new HttpListeners();
                var http = HttpClient.newHttpClient()) {
            var address = listeners.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), gateway);
            var first = statelessCall(http, address, "");
            assertThat(first.path("resultType").asString()).isEqualTo("input_required");
            var question = first.path("inputRequests").path("q1");
            assertThat(question.path("method").asString()).isEqualTo("elicitation/create");
            assertThat(question.path("params").path("mode").asString()).isEqualTo("url");
            String link = question.path("params").path("url").asString();
            world.authorizations.complete(redirect(birds.agree(link)));
            String more = ", \"requestState\": \"%s\", \"inputResponses\": {\"q1\": {\"action\": \"accept\"}}"
                    .formatted(first.path("requestState").asString());
            assertThat(SmallClient.text(statelessCall(http, address, more))).isEqualTo("la");
        }
    }

    private static JsonNode statelessCall(HttpClient http, InetSocketAddress address, String more) throws Exception {
        String body = """
                {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "birds-sing", "arguments": {}%s,
                 "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
                           "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"url": {}}}}}}""".formatted(more);
        var request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:%d/mcp".formatted(address.getPort())))
                .header("Authorization", "Bearer token")
                .header("Content-Type", "application/json")
                .header("Accept", "application/json, text/event-stream")
                .header("MCP-Protocol-Version", "2026-07-28")
                .header("Mcp-Method", "tools/call")
                .header("Mcp-Name", "birds-sing")
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .build();
        String answer = http.send(request, HttpResponse.BodyHandlers.ofString()).body();
        String json = answer.startsWith("{")
                ? answer
                : answer.lines()
                        .filter(line -> line.startsWith("data:") && line.contains("\"result\""))
                        .findFirst()
                        .orElse(answer)
                        .replaceFirst("^data: ?", "");
        return Json.mapper().readTree(json).path("result");
    }
}
