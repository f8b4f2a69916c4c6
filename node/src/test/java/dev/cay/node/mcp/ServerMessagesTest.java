package dev.cay.node.mcp;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.http.Json;
import dev.cay.life.WaitLimits;
import dev.cay.mcp.protocol.Message;
import dev.cay.node.mcp.server.ServerLink;
import dev.cay.testing.Await;
import dev.cay.testing.Fast;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.node.StringNode;

@Fast
@Timeout(60)
class ServerMessagesTest {
    private final List<Message> toClient = new CopyOnWriteArrayList<>();
    private final ServerMessages messages = new ServerMessages(toClient::add);

    /// A server that answers `initialize`, and what was sent to it after that.
    private record Asking(String key, List<Message> heard, Set<Upstream> opening) implements Upstream.Server {
        Asking(String key) {
            this(key, new CopyOnWriteArrayList<>(), ConcurrentHashMap.newKeySet());
        }

        Upstream connect() {
            return Upstream.open(this, Json.mapper().createObjectNode(), new Deaf());
        }

        @Override
        public Duration helloLimit() {
            return Duration.ofSeconds(20);
        }

        @Override
        public WaitLimits limits() {
            return new WaitLimits();
        }

        @Override
        public ServerLink link(ServerLink.Listener listener) {
            return new ServerLink() {
                @Override
                public void send(Message message) {
                    if (message.kind() == Message.Kind.REQUEST) {
                        var hello = Json.mapper().createObjectNode();
                        Thread.ofVirtual().start(() -> listener.heard(Message.result(message.id(), hello)));
                    } else if (message.kind() != Message.Kind.NOTIFICATION) {
                        heard.add(message);
                    }
                }

                @Override
                public void close() {}
            };
        }

        @Override
        public void failed(String why) {}
    }

    private record Deaf() implements Upstream.Audience {
        @Override
        public void request(Upstream from, Message request, Optional<Upstream.Call> about) {}

        @Override
        public void notification(Upstream from, Message notification, Optional<Upstream.Call> about) {}

        @Override
        public void over(Upstream from, String reason) {}
    }

    private void ask(Upstream from, String id) {
        ObjectNode question = Json.mapper()
                .createObjectNode()
                .put("jsonrpc", "2.0")
                .put("id", id)
                .put("method", "sampling/createMessage");
        messages.ask(from, new Message(question), Optional.empty());
    }

    @Test
    void aServerThatGetsNoAnswersKeepsNoOtherFromAsking() {
        var noisy = new Asking("noisy");
        var calm = new Asking("calm");
        var noise = noisy.connect();
        var upstream = calm.connect();
        for (int i = 0; i < 200; i++) {
            ask(noise, "n" + i);
        }
        assertThat(toClient).hasSize(64);
        assertThat(noisy.heard())
                .hasSize(136)
                .allSatisfy(message ->
                        assertThat(message.toString()).contains("has not answered too many questions of noisy"));

        ask(upstream, "c");
        assertThat(calm.heard()).isEmpty();
        assertThat(toClient).hasSize(65);
        messages.answer(Message.result(
                StringNode.valueOf(toClient.getLast().id().asString()),
                Json.mapper().createObjectNode()));
        Await.until("the server has the answer", () -> calm.heard().size() == 1);
        assertThat(calm.heard().getFirst().id().asString()).isEqualTo("c");

        messages.forget(noise);
        ask(noise, "again");
        assertThat(toClient).as("its place is free again").hasSize(66);
    }
}
