package dev.cay.node.mcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.testing.Fast;
import dev.cay.web.Addresses;
import dev.cay.web.Dialer;
import dev.cay.wire.CayException;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.Egress;
import dev.cay.wire.node.NodeAuthorizations.Redirect;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/// What remote servers and their authorization servers say is not believed, and no token goes to another.
@Fast
final class AuthorizationTrustTest extends AuthorizationLab {
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
