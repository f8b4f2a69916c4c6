package dev.cay.node.mcp;

import dev.cay.http.Json;
import dev.cay.mcp.protocol.Conversation;
import dev.cay.mcp.protocol.Message;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.IntNode;
import tools.jackson.databind.node.ObjectNode;

/// A client of a gateway, without HTTP in between.
final class SmallClient implements AutoCloseable {
    private final BlockingQueue<Message> heard = new LinkedBlockingQueue<>();
    private final AtomicInteger ids = new AtomicInteger();
    private final Conversation conversation;

    SmallClient(McpGateway gateway) throws Exception {
        this(gateway, "{}");
    }

    /// @param capabilities what it can do
    SmallClient(McpGateway gateway, String capabilities) throws Exception {
        conversation = gateway.open("sandbox", heard::add);
        var hello = Json.mapper().createObjectNode().put("protocolVersion", "2025-11-25");
        hello.set("capabilities", Json.mapper().readTree(capabilities));
        answer("initialize", hello);
        conversation.notification(
                Message.notification("notifications/initialized", Json.mapper().createObjectNode()));
    }

    /// A request that is under way.
    record Asked(int id, CompletableFuture<JsonNode> answer, BlockingQueue<Message> before) {
        JsonNode get() throws Exception {
            return answer.get(50, TimeUnit.SECONDS);
        }
    }

    Asked ask(String method, ObjectNode params) {
        var asked = new Asked(ids.incrementAndGet(), new CompletableFuture<>(), new LinkedBlockingQueue<>());
        conversation.request(Message.request(IntNode.valueOf(asked.id), method, params), new Conversation.Reply() {
            @Override
            public void send(Message message) {
                asked.before.add(message);
            }

            @Override
            public void end(Message response) {
                asked.answer.complete(response.tree());
            }
        });
        return asked;
    }

    JsonNode answer(String method, ObjectNode params) throws Exception {
        return ask(method, params).get();
    }

    static ObjectNode calling(String tool, String arguments) {
        var params = Json.mapper().createObjectNode().put("name", tool);
        params.set("arguments", Json.mapper().readTree(arguments));
        return params;
    }

    /// What a tool answers.
    JsonNode call(String tool, String arguments) throws Exception {
        return answer("tools/call", calling(tool, arguments)).path("result");
    }

    static String text(JsonNode result) {
        return result.path("content").path(0).path("text").asString("");
    }

    String tools() throws Exception {
        var names = answer("tools/list", Json.mapper().createObjectNode())
                .path("result")
                .path("tools")
                .valueStream()
                .map(tool -> tool.path("name").asString())
                .toList();
        return String.join(" ", names);
    }

    void callOff(Asked asked) {
        conversation.notification(Message.notification(
                "notifications/cancelled", Json.mapper().createObjectNode().put("requestId", asked.id)));
    }

    /// Whether it is told of this in time.
    boolean hears(String method) throws InterruptedException {
        while (true) {
            var message = heard.poll(1, TimeUnit.MINUTES);
            if (message == null || message.method().equals(method)) {
                return message != null;
            }
        }
    }

    /// What it was told by this method since it last looked.
    List<Message> told(String method) {
        var all = new ArrayList<Message>();
        heard.drainTo(all);
        all.removeIf(message -> !message.method().equals(method));
        return all;
    }

    /// The next that it is asked or told by this method.
    Message asked(String method) throws InterruptedException {
        while (true) {
            var message = heard.poll(1, TimeUnit.MINUTES);
            if (message == null) {
                throw new AssertionError("was not asked " + method);
            }
            if (message.method().equals(method)) {
                return message;
            }
        }
    }

    void answer(Message question, String result) {
        conversation.response(Message.result(question.id(), Json.mapper().readTree(result)));
    }

    @Override
    public void close() {
        conversation.close();
    }
}
