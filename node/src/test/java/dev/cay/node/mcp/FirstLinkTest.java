package dev.cay.node.mcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.http.Json;
import dev.cay.mcp.protocol.Message;
import dev.cay.node.log.LogHub;
import dev.cay.node.mcp.catalog.LaunchPlan;
import dev.cay.node.mcp.catalog.ServerPlan;
import dev.cay.node.mcp.server.ChosenHome;
import dev.cay.node.mcp.server.ServerHome;
import dev.cay.node.mcp.server.ServerLink;
import dev.cay.testing.Await;
import dev.cay.testing.Fast;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.node.ObjectNode;

@Timeout(60)
@Fast
class FirstLinkTest {
    private static final ObjectNode NOTHING = hello("{}");

    private static final ServerPlan PLAN =
            ServerPlan.of(LaunchPlan.of("echo", new LaunchPlan.Command(List.of("echo"))));

    private final Home home = new Home();
    private final GatewayServer server = new GatewayServer(
            PLAN,
            () -> new ChosenHome(PLAN, _ -> home, System::nanoTime),
            new GatewayLog(new LogHub(InstantSource.system()).of(new SandboxId("one")), InstantSource.system()),
            null);

    @Test
    void theFirstClientGetsWhatTheServerWasTriedWith() throws Exception {
        server.probe();
        awaitReady();
        var audience = new Audience();
        var upstream = server.connect(NOTHING, audience);
        assertThat(home.links).hasSize(1);
        assertThat(upstream.call("tools/call", NOTHING, null, Duration.ofSeconds(20))
                        .tree()
                        .has("result"))
                .isTrue();
        home.links.getFirst().listener.heard(note("for its client"));
        assertThat(audience.told.poll(1, TimeUnit.MINUTES)).isEqualTo("for its client");
        upstream.close();
        assertThat(home.links.getFirst().closed.getCount()).isZero();
    }

    @Test
    void oneGetsItAndAllOthersGetTheirOwn() throws Exception {
        server.probe();
        awaitReady();
        var clients = new ArrayList<CompletableFuture<Upstream>>();
        for (int i = 0; i < 20; i++) {
            clients.add(CompletableFuture.supplyAsync(
                    () -> server.connect(NOTHING, new Audience()),
                    work -> Thread.ofVirtual().start(work)));
        }
        var upstreams = new ArrayList<Upstream>();
        for (var client : clients) {
            upstreams.add(client.get(1, TimeUnit.MINUTES));
        }
        assertThat(upstreams).doesNotHaveDuplicates();
        assertThat(home.links).hasSize(20);
    }

    @Test
    void whatOneClientDidNoOtherSees() throws Exception {
        server.probe();
        awaitReady();
        server.connect(NOTHING, new Audience()).close();
        server.connect(NOTHING, new Audience());
        assertThat(home.links).hasSize(2);
        assertThat(home.links.get(1).closed.getCount()).isEqualTo(1);
    }

    @Test
    void aClientThatCanDoSomethingIsIntroducedToTheServer() throws Exception {
        server.probe();
        awaitReady();
        server.connect(hello("{\"capabilities\": {\"sampling\": {}}}"), new Audience());
        assertThat(home.links).hasSize(2);
        assertThat(home.links.get(1).said.getFirst()).contains("sampling");
        server.connect(hello("{\"capabilities\": {}}"), new Audience());
        assertThat(home.links).as("the other one was still there").hasSize(2);
    }

    @Test
    void whoComesWhileTheServerStartsWaitsForThat() throws Exception {
        home.mayAnswer = new CountDownLatch(1);
        server.probe();
        var client = CompletableFuture.supplyAsync(() -> server.connect(NOTHING, new Audience()));
        assertThat(home.connected.poll(1, TimeUnit.MINUTES)).isNotNull();
        home.mayAnswer.countDown();
        assertThat(client.get(1, TimeUnit.MINUTES).isOver()).isFalse();
        awaitReady();
        assertThat(home.links).hasSize(1);
    }

    @Test
    void theFailureOfAStartThatWasReplacedSaysNothingOfTheServer() throws Exception {
        home.mayAnswer = new CountDownLatch(1);
        server.probe();
        var replaced = Objects.requireNonNull(home.connected.poll(1, TimeUnit.MINUTES));
        server.probeAgain();
        assertThat(home.connected.poll(1, TimeUnit.MINUTES)).isNotNull();
        replaced.listener.over("it fell over");
        assertThat(replaced.closed.await(1, TimeUnit.MINUTES)).isTrue();
        home.mayAnswer.countDown();
        awaitReady();
        assertThat(server.failures()).isZero();
        assertThat(server.reason()).isEmpty();
    }

    @Test
    void whoWaitsHearsWhyAServerDoesNotStart() throws Exception {
        var first = new FirstLink(FirstLink.KEPT);
        first.begin();
        var client = CompletableFuture.supplyAsync(() -> first.take(NOTHING, new Audience()));
        home.refuses = true;
        assertThatThrownBy(() -> first.open(server)).hasMessage("no such program");
        assertThatThrownBy(() -> client.get(1, TimeUnit.MINUTES)).hasMessageContaining("no such program");
    }

    @Test
    void whatTheServerSaysBeforeIsForNobody() throws Exception {
        server.probe();
        awaitReady();
        var link = home.links.getFirst();
        link.listener.heard(note("for nobody"));
        link.listener.heard(Message.request(Json.mapper().stringNode("ask"), "roots/list", NOTHING));
        assertThat(link.said).last().asString().contains("no client is connected that could answer");
        var audience = new Audience();
        server.connect(NOTHING, audience);
        assertThat(audience.told).isEmpty();
    }

    @Test
    void itIsGivenUpWhenNobodyWantsIt() throws Exception {
        var first = new FirstLink(Duration.ofMillis(50));
        first.begin();
        first.open(server);
        first.keep();
        assertThat(home.links.getFirst().closed.getCount()).isZero();
        assertThat(first.take(NOTHING, new Audience())).isEmpty();
    }

    @Test
    void itMakesRoomAndIsNotMissedTwice() throws Exception {
        server.probe();
        awaitReady();
        assertThat(server.makeRoom()).isTrue();
        assertThat(home.links.getFirst().closed.getCount()).isZero();
        assertThat(server.makeRoom()).isFalse();
        server.connect(NOTHING, new Audience());
        assertThat(server.makeRoom()).as("what a client has").isFalse();
        assertThat(home.links.get(1).closed.getCount()).isEqualTo(1);
    }

    @Test
    void itEndsWithTheServerAlsoWhileItIsMade() throws Exception {
        home.mayAnswer = new CountDownLatch(1);
        server.probe();
        assertThat(home.connected.poll(1, TimeUnit.MINUTES)).isNotNull();
        server.close();
        home.mayAnswer.countDown();
        assertThat(home.links.getFirst().closed.await(1, TimeUnit.MINUTES)).isTrue();
        server.connect(NOTHING, new Audience());
        assertThat(home.links).hasSize(2);
    }

    /// It would hear nothing until the server's time to answer is over.
    @Test
    void whoWaitsForAServerThatIsRemovedHearsSoAtOnce() throws Exception {
        home.mayAnswer = new CountDownLatch(1);
        server.probe();
        assertThat(home.connected.poll(1, TimeUnit.MINUTES)).isNotNull();
        var waiting = List.of(
                CompletableFuture.supplyAsync(() -> server.connect(NOTHING, new Audience())),
                CompletableFuture.supplyAsync(
                        () -> server.connect(hello("{\"capabilities\": {\"sampling\": {}}}"), new Audience())));
        assertThat(home.connected.poll(1, TimeUnit.MINUTES)).isNotNull();
        Await.until("one waits for the first try", server.first()::isTaken);
        Await.until("both were greeted", () -> home.links.stream().noneMatch(link -> link.said.isEmpty()));
        server.retire();
        for (var one : waiting) {
            assertThatThrownBy(() -> one.get(1, TimeUnit.MINUTES)).hasMessageContaining("is not connected any more");
        }
        assertThat(server.opening()).isEmpty();
        assertThat(home.links).allMatch(link -> link.closed.getCount() == 0);
    }

    @Test
    void oneThatEndedMeanwhileIsNotGivenAway() throws Exception {
        server.probe();
        awaitReady();
        home.links.getFirst().listener.over("it fell over");
        var upstream = server.connect(NOTHING, new Audience());
        assertThat(upstream.isOver()).isFalse();
        assertThat(home.links).hasSize(2);
    }

    @Test
    void norOneThatEndedBeforeItWasTried() {
        var first = new FirstLink(FirstLink.KEPT);
        first.begin();
        first.open(server);
        home.links.getFirst().listener.over("it fell over");
        assertThat(first.take(NOTHING, new Audience())).isEmpty();
    }

    /// Until it was tried, which is when it knows its tools.
    private void awaitReady() {
        Await.until(
                "the tools of the server are counted",
                () -> server.health().path("tools").asInt() == 1);
    }

    private static ObjectNode hello(String json) {
        return (ObjectNode) Json.mapper().readTree(json);
    }

    private static Message note(String text) {
        return Message.notification(
                "notifications/message", Json.mapper().createObjectNode().put("data", text));
    }

    /// A server whose processes are objects.
    private static final class Home implements ServerHome {
        private final List<Link> links = new CopyOnWriteArrayList<>();
        private final BlockingQueue<Link> connected = new LinkedBlockingQueue<>();
        private volatile CountDownLatch mayAnswer = new CountDownLatch(0);
        private volatile boolean refuses;

        @Override
        public ServerLink connect(ServerLink.Listener listener) {
            if (refuses) {
                throw new CayException(ErrorKind.FAILED, "no such program");
            }
            var link = new Link(listener, mayAnswer);
            links.add(link);
            connected.add(link);
            return link;
        }

        @Override
        public void awaitRoom(Duration limit) {
            throw new AssertionError("nobody was refused for want of room");
        }

        @Override
        public void close() {}
    }

    private static final class Link implements ServerLink {
        private final Listener listener;
        private final CountDownLatch mayAnswer;
        private final List<String> said = new CopyOnWriteArrayList<>();
        private final CountDownLatch closed = new CountDownLatch(1);

        Link(Listener listener, CountDownLatch mayAnswer) {
            this.listener = listener;
            this.mayAnswer = mayAnswer;
        }

        @Override
        public void send(Message message) {
            said.add(message.tree().toString());
            if (message.kind() == Message.Kind.REQUEST) {
                Thread.ofVirtual().start(() -> answer(message));
            }
        }

        private void answer(Message request) {
            try {
                mayAnswer.await();
            } catch (InterruptedException e) {
                return;
            }
            var result = switch (request.method()) {
                case "initialize" -> "{\"capabilities\": {\"tools\": {}}}";
                case "tools/list" -> "{\"tools\": [{\"name\": \"echo\"}]}";
                default -> "{}";
            };
            listener.heard(Message.result(request.id(), Json.mapper().readTree(result)));
        }

        @Override
        public void close() {
            closed.countDown();
        }
    }

    /// A client, as a server sees it.
    private static final class Audience implements Upstream.Audience {
        private final BlockingQueue<String> told = new LinkedBlockingQueue<>();

        @Override
        public void request(Upstream from, Message request, Optional<Upstream.Call> about) {
            told.add(request.method());
        }

        @Override
        public void notification(Upstream from, Message notification, Optional<Upstream.Call> about) {
            told.add(notification.params().path("data").asString(""));
        }

        @Override
        public void over(Upstream from, String reason) {
            told.add("over: " + reason);
        }
    }
}
