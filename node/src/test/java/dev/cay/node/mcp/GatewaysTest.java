package dev.cay.node.mcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.http.Json;
import dev.cay.node.mcp.catalog.Catalog;
import dev.cay.node.mcp.catalog.LaunchPlan;
import dev.cay.node.mcp.remote.RemoteCredentials;
import dev.cay.node.mcp.remote.RemoteHome;
import dev.cay.node.mcp.server.ServerHome;
import dev.cay.node.mcp.server.ServerLink;
import dev.cay.testing.Fast;
import dev.cay.web.Addresses;
import dev.cay.web.Dialer;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.node.Egress;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Who may begin a gateway, and what becomes of it when one of its servers does not work, comes late or is barred.
@Timeout(180)
@Fast
final class GatewaysTest {
    @TempDir
    private Path directory = Path.of("unset");

    private SmallServer birds;
    private SmallServer fish;
    private SmallGateways world;

    @BeforeEach
    void begin() throws Exception {
        birds = new SmallServer("sing");
        fish = new SmallServer("swim");
        world = world();
    }

    private SmallGateways world() throws Exception {
        String servers = "servers:\n"
                + SmallGateways.entry("birds", birds.url())
                + SmallGateways.entry("fish", fish.url())
                + "  boxed: {title: Boxed, category: tests, launch: {image: {name: some/image}}}\n";
        return new SmallGateways(directory, MetaChoice.OFF, servers, "");
    }

    @AfterEach
    void end() {
        world.close();
        birds.close();
        fish.close();
    }

    private static void refused(SmallGateways gateways, String shown) {
        assertThatThrownBy(() -> gateways.start("{\"fish\": {}}", "intruder", null, shown))
                .isInstanceOfSatisfying(
                        CayException.class, e -> assertThat(e.kind()).isEqualTo(ErrorKind.UNAUTHENTICATED))
                .hasMessageContaining("GATEWAY_ACCESS_TOKEN");
        assertThatThrownBy(() -> gateways.gateways.requireToken(gateways.folder, shown, null))
                .hasMessageContaining("GATEWAY_ACCESS_TOKEN");
    }

    @Test
    void replacesAGatewayOnlyForWhoKnowsItsToken() throws Exception {
        var owners = world.start("{\"birds\": {}}", "token", null, null);
        refused(world, null);
        refused(world, "wrong");
        assertThat(world.recall()).isSameAs(owners);
        try (var client = new SmallClient(owners)) {
            assertThat(client.tools()).isEqualTo("birds-sing");
        }
        world.gateways.requireToken(world.folder, null, "token");
        assertThat(world.start("{\"fish\": {}}", "another", null, "token")).isNotSameAs(owners);
    }

    /// A fork has the same settings in a folder of its own, and is refused like this.
    @Test
    void keepsTheTokenOverARestart() throws Exception {
        world.start("{\"birds\": {}}", "token", null, null);
        world.close();
        world = world();
        refused(world, null);
        var owners = world.recall();
        refused(world, "wrong");
        try (var client = new SmallClient(owners)) {
            assertThat(client.tools()).isEqualTo("birds-sing");
        }
    }

    @Test
    void beginsWithAServerThatCannotBeStartedAndReportsIt() throws Exception {
        var gateway = world.start("{\"boxed\": {}, \"birds\": {}}", null);
        try (var client = new SmallClient(gateway)) {
            assertThat(client.tools()).isEqualTo("birds-sing");
        }
        var boxed = gateway.status().path("servers").path("boxed");
        assertThat(boxed.path("state").asString()).isEqualTo("failed");
        assertThat(boxed.path("reason").asString()).contains("images are not started here");
        assertThat(gateway.status().path("servers").path("birds").path("state").asString())
                .isEqualTo("ready");
        assertThat(world.log).anyMatch(line -> line.contains("boxed: images are not started here"));
        assertThatThrownBy(() -> world.start("{\"brids\": {}}", null)).hasMessageContaining("did you mean birds");
    }

    @Test
    void countsToolsAfterARestart() throws Exception {
        world.start("{\"birds\": {}}", null);
        world.close();
        world = world();
        var status = world.recall().status().path("servers").path("birds");
        assertThat(status.path("state").asString()).isEqualTo("ready");
        assertThat(status.path("tools").asInt()).isEqualTo(1);
    }

    /// One whose package is being installed until it is let go.
    private static final class Late implements ServerHome {
        private final CountDownLatch installed = new CountDownLatch(1);
        private final ServerHome then;

        Late(ServerHome then) {
            this.then = then;
        }

        @Override
        public ServerLink connect(ServerLink.Listener listener) {
            try {
                assertThat(installed.await(120, TimeUnit.SECONDS)).isTrue();
            } catch (InterruptedException e) {
                throw new CayException(ErrorKind.CANCELED, "interrupted", e);
            }
            return then.connect(listener);
        }

        @Override
        public void awaitRoom(Duration limit) {
            then.awaitRoom(limit);
        }

        @Override
        public boolean isPreparing() {
            return installed.getCount() > 0;
        }

        @Override
        public void close() {
            installed.countDown();
            then.close();
        }
    }

    @Test
    void listsOthersWhileOneIsInstalledAndAnnouncesItLater() throws Exception {
        try (var dialer = new Dialer(Addresses.allowing(List.of("127.0.0.1")), Map.of())) {
            var plan = world.catalog.plan("fish", Json.mapper().createObjectNode());
            var late = new Late(new RemoteHome(
                    "fish",
                    (LaunchPlan.Remote) plan.ways().getFirst().start(),
                    dialer,
                    RemoteCredentials.NONE,
                    () -> true));
            world.others.put("fish", late);
            var gateway = world.start("{\"fish\": {}, \"birds\": {}}", null);
            try (var client = new SmallClient(gateway)) {
                long began = System.nanoTime();
                assertThat(client.tools()).isEqualTo("birds-sing");
                var error = client.answer("tools/call", SmallClient.calling("fish-swim", "{}"))
                        .path("error");
                assertThat(error.path("message").asString()).endsWith("; still being installed: fish");
                assertThat(TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - began))
                        .as("seconds, of which 45 would be patience")
                        .isLessThan(40);
                assertThat(gateway.status()
                                .path("servers")
                                .path("fish")
                                .path("state")
                                .asString())
                        .isEqualTo("starting");
                late.installed.countDown();
                assertThat(client.hears("notifications/tools/list_changed")).isTrue();
                assertThat(client.tools()).isEqualTo("fish-swim birds-sing");
            }
        }
    }

    @Test
    void cutsConnectionsToServersElsewhereWhenTheSandboxIsBarred() throws Exception {
        var gateway = world.start("{\"birds\": {}}", null);
        try (var client = new SmallClient(gateway)) {
            assertThat(client.tools()).isEqualTo("birds-sing");
            assertThat(client.call("birds-sing", "{}").path("isError").asBoolean(false))
                    .isFalse();
            birds.heard.clear();
            world.online.set(false);
            world.gateways.setEgress(SmallGateways.ID, Egress.closed());
            assertThat(client.answer("tools/call", SmallClient.calling("birds-sing", "{}"))
                            .toString())
                    .contains("this sandbox may not reach the internet");
            assertThat(birds.heard).isEmpty();
            world.online.set(true);
            assertThat(client.call("birds-sing", "{}").path("isError").asBoolean(false))
                    .isFalse();
        }
    }

    /// A call that is under way ends with the connection, and none is made before the sandbox is back.
    @Test
    void endsConnectionsToServersElsewhereWhileTheSandboxIsPausedOrBarred() throws Exception {
        world.close();
        try (var snail = new SmallServer("slow")) {
            world = new SmallGateways(
                    directory, MetaChoice.OFF, "servers:\n" + SmallGateways.entry("snail", snail.url()), "");
            try (var client = new SmallClient(world.start("{\"snail\": {}}", null))) {
                endsCall(client, snail, () -> world.gateways.sleep(SmallGateways.ID));
                staysAway(client, snail, "is not called while its sandbox is paused");
                world.gateways.wake(SmallGateways.ID);
                endsCall(client, snail, () -> world.gateways.rest(SmallGateways.ID));
                staysAway(client, snail, "is not called while its sandbox is paused");
                world.gateways.wake(SmallGateways.ID);
                endsCall(client, snail, () -> {
                    world.online.set(false);
                    world.gateways.setEgress(SmallGateways.ID, Egress.closed());
                });
                staysAway(client, snail, "this sandbox may not reach the internet");
                world.online.set(true);
                assertThat(client.tools()).isEqualTo("snail-slow");
            }
        }
    }

    private static void endsCall(SmallClient client, SmallServer snail, Runnable what) throws Exception {
        assertThat(client.tools()).isEqualTo("snail-slow");
        var call = client.ask("tools/call", SmallClient.calling("snail-slow", "{}"));
        snail.next("tools/call");
        what.run();
        assertThat(call.get().path("error").path("message").asString()).contains("snail");
    }

    private static void staysAway(SmallClient client, SmallServer snail, String reason) throws Exception {
        snail.credentials.clear();
        assertThat(client.answer("tools/call", SmallClient.calling("snail-slow", "{}"))
                        .path("error")
                        .path("message")
                        .asString())
                .contains(reason);
        assertThat(snail.credentials).as("requests").isEmpty();
    }

    /// As the catalog describes it, at another address.
    @Test
    void callsGitHubsHostedServerWithTheUsersToken() throws Exception {
        var options = Json.mapper().createObjectNode().put("githubPersonalAccessToken", "ghp_user");
        var plan = (LaunchPlan.Remote) Catalog.builtIn()
                .plan("githubOfficial", options)
                .ways()
                .getLast()
                .start();
        assertThat(plan.url()).isEqualTo(URI.create("https://api.githubcopilot.com/mcp/"));
        var here = new LaunchPlan.Remote(URI.create(birds.url()), plan.transport(), plan.headers());
        try (var dialer = new Dialer(Addresses.allowing(List.of("127.0.0.1")), Map.of())) {
            world.others.put(
                    "birds", new RemoteHome("githubOfficial", here, dialer, RemoteCredentials.NONE, () -> true));
            try (var client = new SmallClient(world.start("{\"birds\": {}}", null))) {
                assertThat(client.tools()).isEqualTo("birds-sing");
            }
        }
        assertThat(birds.credentials).isNotEmpty().containsOnly("Bearer ghp_user");
    }
}
