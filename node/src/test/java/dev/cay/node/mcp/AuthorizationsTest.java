package dev.cay.node.mcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.http.HttpListeners;
import dev.cay.http.Json;
import dev.cay.testing.Await;
import dev.cay.testing.Fast;
import dev.cay.web.Addresses;
import dev.cay.web.Dialer;
import dev.cay.wire.CayException;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.Egress;
import dev.cay.wire.node.NodeAuthorizations;
import dev.cay.wire.node.NodeAuthorizations.Redirect;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URLDecoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/// Remote servers that want an authorization of their user: how it is had, kept, renewed and lost.
@Timeout(180)
@Fast
final class AuthorizationsTest {
    @TempDir
    private Path directory = Path.of("unset");

    private SignInServer birds;
    private SmallGateways world;

    @BeforeEach
    void begin() throws Exception {
        birds = new SignInServer();
        world = world("");
    }

    private SmallGateways world(String config) throws Exception {
        return new SmallGateways(
                directory, MetaChoice.OFF, "servers:\n" + SmallGateways.entry("birds", birds.url()), config);
    }

    @AfterEach
    void end() {
        world.close();
        birds.close();
    }

    private static JsonNode state(McpGateway gateway) {
        return gateway.status().path("servers").path("birds");
    }

    private static String link(McpGateway gateway) {
        var state = state(gateway);
        assertThat(state.path("state").asString()).isEqualTo("needs authorization");
        return state.path("authorize").asString();
    }

    /// What a browser brings to the callback.
    private static Redirect redirect(URI end) {
        var fields = new HashMap<String, String>();
        for (String pair : end.getRawQuery().split("&")) {
            String[] both = pair.split("=", 2);
            fields.put(both[0], URLDecoder.decode(both[1], StandardCharsets.UTF_8));
        }
        return new Redirect(fields.get("state"), fields.get("code"), fields.get("iss"), fields.get("error"));
    }

    private void authorize(McpGateway gateway) {
        world.authorizations.complete(redirect(birds.agree(link(gateway))));
    }

    private static String tools(McpGateway gateway) throws Exception {
        try (var client = new SmallClient(gateway)) {
            return client.tools();
        }
    }

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

    /// A gateway whose server was authorized.
    private McpGateway authorized() throws Exception {
        var gateway = world.start("{\"birds\": {}}", null);
        authorize(gateway);
        assertThat(tools(gateway)).isEqualTo("birds-sing");
        return gateway;
    }

    private static long count(Queue<String> all, String part) {
        return all.stream().filter(one -> one.contains(part)).count();
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
    void doesNotShareTokensBetweenSandboxes() throws Exception {
        authorized();
        var other = new SandboxId("other");
        Files.createDirectories(directory.resolve("forked"));
        Files.copy(world.folder.resolve("mcp.sealed"), directory.resolve("forked/mcp.sealed"));
        // Not even a copy of the file makes another sandbox's tokens one's own.
        Files.copy(directory.resolve("small.tokens"), directory.resolve("other.tokens"));
        birds.introductions.clear();
        var fork = world.gateways.recall(other, directory.resolve("forked")).orElseThrow();
        String link = link(fork);
        // The first sandbox's connection may still send what follows its own introduction.
        assertThat(birds.introductions).isNotEmpty().containsOnly("");
        world.authorizations.complete(redirect(birds.agree(link)));
        assertThat(tools(fork)).isEqualTo("birds-sing");
        world.gateways.end(other);
        assertThat(directory.resolve("other.tokens")).doesNotExist();
        assertThat(tools(world.recall())).isEqualTo("birds-sing");
    }

    @Test
    void forgetsAndRevokesTokensWithTheSandbox() throws Exception {
        authorized();
        world.gateways.end(SmallGateways.ID);
        Await.until("the token is revoked", () -> count(birds.posted, "/revoke") > 0);
        assertThat(count(birds.posted, "token_type_hint=refresh_token")).isEqualTo(1);
        assertThat(directory.resolve("small.tokens")).doesNotExist();
    }

    private void refused(Redirect redirect, String reason) {
        assertThatThrownBy(() -> world.authorizations.complete(redirect))
                .isInstanceOf(CayException.class)
                .hasMessageContaining(reason);
    }

    @Test
    void takesAStateOnceAndForTenMinutes() throws Exception {
        var gateway = world.start("{\"birds\": {}}", null);
        String link = link(gateway);
        assertThat(link(gateway)).as("a link that is good for long").isEqualTo(link);
        world.later.set(Duration.ofMinutes(6));
        String second = link(gateway);
        assertThat(second).isNotEqualTo(link);
        world.later.set(Duration.ofMinutes(10).plusSeconds(1));
        refused(redirect(birds.agree(link)), "not good any more");
        var redirect = redirect(birds.agree(second));
        refused(new Redirect("guessed", redirect.code(), redirect.issuer(), null), "not good any more");
        refused(new Redirect(null, redirect.code(), redirect.issuer(), null), "not good any more");
        world.authorizations.complete(redirect);
        refused(redirect, "not good any more");
        assertThat(count(birds.posted, "/token")).isEqualTo(1);
    }

    /// A user may have been sent to another authorization server, which brings its own code, or this one's.
    @Test
    void showsNoCodeToWhoDidNotIssueIt() throws Exception {
        var gateway = world.start("{\"birds\": {}}", null);
        var redirect = redirect(birds.agree(link(gateway)));
        refused(
                new Redirect(redirect.state(), redirect.code(), "https://evil.example", null),
                "does not come from the authorization server");
        refused(redirect, "not good any more");
        redirect = redirect(birds.agree(link(gateway)));
        refused(new Redirect(redirect.state(), redirect.code(), null, null), "does not come from");
        redirect = redirect(birds.agree(link(gateway)));
        refused(new Redirect(redirect.state(), null, redirect.issuer(), "access_denied"), "not granted: access_denied");
        assertThat(count(birds.posted, "/token")).isZero();
        authorize(gateway);
        assertThat(tools(gateway)).isEqualTo("birds-sing");
    }

    /// Fails without an address to open, for this reason.
    private void fails(McpGateway gateway, String reason) {
        var state = state(gateway);
        assertThat(state.path("state").asString()).isEqualTo("failed");
        assertThat(state.path("reason").asString()).contains(reason);
        assertThat(state.has("authorize")).isFalse();
    }

    @Test
    void believesNoDescriptionThatIsAboutAnother() throws Exception {
        String resource = "/.well-known/oauth-protected-resource/mcp";
        String server = "/.well-known/oauth-authorization-server";
        for (String other : List.of("http://127.0.0.2:9/mcp", birds.origin() + "/mcp2", birds.origin() + "/m", "")) {
            birds.instead.put(resource, SignInServer.resource(other, birds.origin()));
            fails(world.start("{\"birds\": {}}", null), "its description is about another server");
        }
        birds.instead.remove(resource);
        birds.instead.put(server, birds.description("https://login.example.org"));
        fails(world.start("{\"birds\": {}}", null), "names another issuer");
        birds.instead.put(server, birds.description(birds.origin() + "/"));
        fails(world.start("{\"birds\": {}}", null), "names another issuer");
        birds.instead.put(server, birds.description(birds.origin()).replace("S256", "plain"));
        fails(world.start("{\"birds\": {}}", null), "PKCE");
        birds.instead.put(
                server,
                birds.description(birds.origin()).replace(birds.origin() + "/authorize", "javascript:alert(1)"));
        fails(world.start("{\"birds\": {}}", null), "address that is none");
        assertThat(birds.posted).isEmpty();
    }

    /// What a server names is called like what users name: only public addresses, and those that the operator allows.
    @Test
    void callsNoAddressThatIsNotAllowed() throws Exception {
        try (var secret = new SignInServer("127.0.0.2")) {
            secret.challenge = "called";
            birds.challenge = "Bearer resource_metadata=\"%s/.well-known/oauth-protected-resource/mcp\""
                    .formatted(secret.origin());
            fails(world.start("{\"birds\": {}}", null), "127.0.0.2 is not a public address");
            birds.challenge = "Bearer";
            birds.instead.put(
                    "/.well-known/oauth-protected-resource/mcp", SignInServer.resource(birds.url(), secret.origin()));
            fails(world.start("{\"birds\": {}}", null), "127.0.0.2 is not a public address");
            birds.instead.clear();
            String description = birds.description(birds.origin());
            birds.instead.put(
                    "/.well-known/oauth-authorization-server",
                    description.replace(birds.origin() + "/register", secret.origin() + "/register"));
            fails(world.start("{\"birds\": {}}", null), "127.0.0.2 is not a public address");
            birds.instead.put(
                    "/.well-known/oauth-authorization-server",
                    description.replace(birds.origin() + "/token", secret.origin() + "/token"));
            var gateway = world.start("{\"birds\": {}}", null);
            refused(redirect(birds.agree(link(gateway))), "127.0.0.2 is not a public address");
            birds.instead.clear();
            assertThat(secret.posted).isEmpty();
            assertThat(secret.asked.get()).isZero();
        }
    }

    /// Addresses that the operator allows are for servers that lie there, and not for any server of the internet.
    @Test
    void leadsNoServerElsewhereToWhatTheOperatorAllows() throws Exception {
        try (var inside = new SignInServer("127.0.0.2")) {
            world.close();
            var rules = new Dialer.Rules(
                    Addresses.allowing(List.of("127.0.0.2")),
                    Set.of(birds.origin().substring("http://".length())),
                    true,
                    "mcp.remoteAddresses");
            world = new SmallGateways(
                    directory,
                    MetaChoice.OFF,
                    "servers:\n" + SmallGateways.entry("birds", birds.url())
                            + SmallGateways.entry("fish", inside.url()),
                    "",
                    new Dialer(rules));
            birds.challenge = "Bearer resource_metadata=\"%s/.well-known/oauth-protected-resource/mcp\""
                    .formatted(inside.origin());
            fails(world.start("{\"birds\": {}}", null), "127.0.0.2 is not a public address");
            assertThat(inside.asked.get()).isZero();
            var gateway = world.start("{\"fish\": {}}", null);
            assertThat(gateway.status()
                            .path("servers")
                            .path("fish")
                            .path("state")
                            .asString())
                    .isEqualTo("needs authorization");
        }
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
    void usesATokenThatWasGivenAndNoOther() throws Exception {
        world.close();
        String entry = """
                servers:
                  birds: {title: Birds, category: tests,
                    launch: {remote: {url: '%s', headers: {Authorization: 'Bearer ${cfg.token}'}}},
                    options: {token: {kind: secret}}}
                """.formatted(birds.url());
        world = new SmallGateways(directory, MetaChoice.OFF, entry, "");
        birds.good.put("given", "read");
        assertThat(tools(world.start("{\"birds\": {\"token\": \"given\"}}", null)))
                .isEqualTo("birds-sing");
        assertThat(birds.credentials).containsOnly("Bearer given");
        birds.good.clear();
        try (var client = new SmallClient(world.start("{\"birds\": {\"token\": \"given\"}}", null))) {
            assertThat(client.tools()).isEmpty();
        }
        fails(world.recall(), "look at the credentials given for it");
        assertThat(birds.posted).isEmpty();
        // One that gave none is asked to authorize.
        link(world.start("{\"birds\": {}}", null));
    }

    @Test
    void sendsATokenNowhereElse() throws Exception {
        try (var other = new SmallServer("swim")) {
            var gateway = authorized();
            birds.redirect = other.url();
            try (var client = new SmallClient(gateway)) {
                assertThat(client.tools()).isEqualTo("birds-swim");
            }
            assertThat(other.credentials).isNotEmpty().containsOnly("");
        }
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
            var during = Objects.requireNonNull(call.before().poll(20, TimeUnit.SECONDS));
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
            var during = Objects.requireNonNull(call.before().poll(20, TimeUnit.SECONDS));
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

    /// A server that the sandbox may reach names an authorization server that it may not reach.
    @Test
    void callsNothingThatTheRulesOfTheSandboxDoNotAllow() throws Exception {
        try (var elsewhere = new SignInServer("127.0.0.2")) {
            birds.challenge = "Bearer resource_metadata=\"%s/.well-known/oauth-protected-resource/mcp\""
                    .formatted(elsewhere.origin());
            world.close();
            world = new SmallGateways(
                    directory,
                    MetaChoice.OFF,
                    "servers:\n" + SmallGateways.entry("birds", birds.url()),
                    "",
                    new Dialer(Addresses.allowing(List.of("127.0.0.0/8")), Map.of()));
            var all = List.of("0.0.0.0/0");
            world.rules = new Egress(true, List.of("127.0.0.1"), all, Map.of(), null, false, false);
            fails(world.start("{\"birds\": {}}", null), "the egress rules of this sandbox do not allow 127.0.0.2");
            assertThat(elsewhere.asked.get()).isZero();
            world.close();
            world = new SmallGateways(
                    directory,
                    MetaChoice.OFF,
                    "servers:\n" + SmallGateways.entry("birds", birds.url()),
                    "",
                    new Dialer(Addresses.allowing(List.of("127.0.0.0/8")), Map.of()));
            var _ = state(world.start("{\"birds\": {}}", null));
            assertThat(elsewhere.asked.get()).as("the control").isPositive();
        }
    }

    @Test
    void callsNothingForASandboxWithoutInternet() throws Exception {
        var gateway = world.start("{\"birds\": {}}", null);
        var redirect = redirect(birds.agree(link(gateway)));
        world.online.set(false);
        world.gateways.setEgress(SmallGateways.ID, Egress.closed());
        refused(redirect, "this sandbox may not reach the internet");
        assertThat(count(birds.posted, "/token")).isZero();
    }
}
