package dev.cay.node.mcp;

import dev.cay.http.Json;
import dev.cay.mcp.protocol.Conversation;
import dev.cay.mcp.protocol.Message;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.StringNode;

/// Asks one client to have its user open addresses in a browser, by which servers are authorized: elicitation in mode
/// `url`. A client without that capability is not asked. Thread-safe.
final class UrlQuestions {
    /// A pending question.
    ///
    /// @param id      by which the client recognises the question when the user has answered
    /// @param granted completed when the user has authorized
    private record Asked(String id, String url, CompletableFuture<Boolean> granted) {}

    private final Conversation.Client client;
    private final Map<GatewayServer, Asked> asked = new HashMap<>();

    /// Waiting answers of the client, by the id of the message.
    private final Map<String, CompletableFuture<Boolean>> answers = new ConcurrentHashMap<>();

    private volatile boolean able;

    UrlQuestions(Conversation.Client client) {
        this.client = client;
    }

    /// @param capabilities what the client announced
    void introduce(JsonNode capabilities) {
        able = capabilities.path("elicitation").path("url").isObject();
    }

    /// Asks for a server once, and waits for nothing.
    void ask(GatewayServer server) {
        if (able && client.takesQuestions() && wanted(server).isPresent()) {
            var known = remembered(server);
            if (known.isPresent()) {
                var _ = send(server, known.get(), client::send);
            }
        }
    }

    private static Optional<String> wanted(GatewayServer server) {
        return server.state() == ServerStatus.State.NEEDS_AUTHORIZATION ? server.authorize() : Optional.empty();
    }

    /// Empty if the client was asked for this address already.
    private synchronized Optional<Asked> remembered(GatewayServer server) {
        String url = server.authorize().orElse("");
        var before = asked.get(server);
        if (url.isEmpty() || (before != null && before.url.equals(url))) {
            return Optional.empty();
        }
        return Optional.of(put(server, url));
    }

    private synchronized Asked put(GatewayServer server, String url) {
        var before = asked.get(server);
        var fresh = new Asked(
                UUID.randomUUID().toString(), url, before == null ? new CompletableFuture<>() : before.granted);
        asked.put(server, fresh);
        return fresh;
    }

    /// Asks as a part of a call, and waits until the user has authorized.
    ///
    /// @return false if the client cannot be asked, the user declines, or the limit has passed
    boolean ask(GatewayServer server, Upstream.Call call, Duration limit) {
        var url = wanted(server);
        if (!able || url.isEmpty()) {
            return false;
        }
        var question = put(server, url.get());
        long end = System.nanoTime() + limit.toNanos();
        return await(send(server, question, call::send), end) && await(question.granted, end);
    }

    private static boolean await(CompletableFuture<Boolean> coming, long end) {
        try {
            return coming.get(Math.max(1, end - System.nanoTime()), TimeUnit.NANOSECONDS);
        } catch (ExecutionException | TimeoutException e) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private CompletableFuture<Boolean> send(GatewayServer server, Asked question, Consumer<Message> way) {
        var params = Json.mapper()
                .createObjectNode()
                .put("mode", "url")
                .put("elicitationId", question.id)
                .put("url", question.url)
                .put("message", "The MCP server %s needs your authorization.".formatted(server.key()));
        var answer = new CompletableFuture<Boolean>();
        answers.put(question.id, answer);
        way.accept(Message.request(StringNode.valueOf(question.id), "elicitation/create", params));
        return answer;
    }

    /// The client's answer, if it is one to a question of these.
    ///
    /// @return whether it is
    boolean answered(Message response) {
        var waiting = answers.remove(response.id().asString(""));
        if (waiting == null) {
            return false;
        }
        String action = response.tree().path("result").path("action").asString("");
        waiting.complete(action.equals("accept"));
        return true;
    }

    /// The user has done it, for this client or another one of the same gateway.
    void granted(GatewayServer server) {
        Asked question;
        synchronized (this) {
            question = asked.remove(server);
        }
        if (question != null) {
            // A completed authorization counts as agreement, whatever the client answers.
            var answer = answers.remove(question.id);
            if (answer != null) {
                answer.complete(true);
            }
            question.granted.complete(true);
            client.send(Message.notification(
                    "notifications/elicitation/complete",
                    Json.mapper().createObjectNode().put("elicitationId", question.id)));
        }
    }
}
