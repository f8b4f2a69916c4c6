package dev.cay.node.mcp;

import dev.cay.life.FairShare;
import dev.cay.mcp.protocol.Conversation;
import dev.cay.mcp.protocol.Message;
import dev.cay.mcp.protocol.RpcException;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Passes messages of a session's servers to its client, and the client's answers back to the server that asked.
/// Servers may use the same ids and progress tokens, so questions get ids of the session. Thread-safe.
final class ServerMessages {
    private static final Logger log = LoggerFactory.getLogger(ServerMessages.class);

    /// Questions of all servers that the client has not answered.
    private static final int MOST_QUESTIONS = 128;

    private final Conversation.Client client;
    private final ConcurrentMap<String, Question> questions = new ConcurrentHashMap<>();
    private final AtomicLong ids = new AtomicLong();

    /// One server whose questions the client does not answer must not keep the others from asking.
    private final FairShare places = new FairShare(MOST_QUESTIONS);

    /// A server's question to the client.
    ///
    /// @param token the server's progress token; missing without one
    private record Question(Upstream from, JsonNode id, JsonNode token) {}

    ServerMessages(Conversation.Client client) {
        this.client = client;
    }

    /// Passes a message to the client.
    ///
    /// @param about the call that it belongs to; its stream gets the message
    void pass(Message message, Optional<Upstream.Call> about) {
        about.ifPresentOrElse(call -> call.send(message), () -> client.send(message));
    }

    /// Passes a question to the client. A server that has too many open ones is refused.
    void ask(Upstream from, Message request, Optional<Upstream.Call> about) {
        if (!places.enter(from.server().key())) {
            var full = new RpcException(
                    RpcException.INTERNAL_ERROR,
                    "the client has not answered too many questions of %s"
                            .formatted(from.server().key()));
            from.send(Message.error(request.id(), full));
            return;
        }
        String id = "cay-" + ids.incrementAndGet();
        var token = request.params().path("_meta").path("progressToken");
        questions.put(id, new Question(from, request.id(), token));
        request.tree().put("id", id);
        if (!token.isMissingNode()) {
            ((ObjectNode) request.params().path("_meta")).put("progressToken", id);
        }
        pass(request, about);
    }

    /// Tells the client that a server has cancelled its question.
    void cancel(Upstream from, Message notification, Optional<Upstream.Call> about) {
        var id = notification.params().path("requestId");
        questions.forEach((ours, question) -> {
            if (question.from == from && question.id.equals(id) && take(ours) != null) {
                ((ObjectNode) notification.params()).put("requestId", ours);
                pass(notification, about);
            }
        });
    }

    /// Passes the client's progress with a question to the server that asked.
    void progress(Message notification) {
        var question = questions.get(notification.params().path("progressToken").asString(""));
        if (question != null && !question.token.isMissingNode()) {
            ((ObjectNode) notification.params()).set("progressToken", question.token);
            elsewhere(() -> question.from.send(notification));
        }
    }

    /// Passes the client's answer to the server that asked.
    void answer(Message response) {
        var question = take(response.id().asString(""));
        if (question != null) {
            response.tree().set("id", question.id);
            elsewhere(() -> question.from.send(response));
        }
    }

    /// Removes a question; null if it is not open.
    private @Nullable Question take(String ours) {
        var question = questions.remove(ours);
        if (question != null) {
            places.leave(question.from.server().key());
        }
        return question;
    }

    /// Runs work on another thread, because the client's thread must not wait for a server.
    private static void elsewhere(Runnable work) {
        Thread.ofVirtual().name("mcp-forward").start(() -> {
            try {
                work.run();
            } catch (RpcException e) {
                log.atDebug()
                        .addKeyValue("reason", e.getMessage())
                        .log("a message of the client could not be forwarded to an MCP server");
            }
        });
    }

    /// Drops the questions of a server that has ended.
    void forget(Upstream from) {
        questions.forEach((ours, question) -> {
            if (question.from == from) {
                take(ours);
            }
        });
    }

    void clear() {
        questions.keySet().forEach(this::take);
    }
}
