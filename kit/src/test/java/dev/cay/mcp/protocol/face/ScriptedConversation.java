package dev.cay.mcp.protocol.face;

import dev.cay.http.Json;
import dev.cay.mcp.protocol.Conversation;
import dev.cay.mcp.protocol.Message;
import dev.cay.mcp.protocol.RpcException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// A server of the older revisions whose tools do what tests need.
final class ScriptedConversation implements Conversation {
    final String owner;
    final Client client;
    final BlockingQueue<Message> heard = new LinkedBlockingQueue<>();
    final BlockingQueue<String> told = new LinkedBlockingQueue<>();
    private final Map<JsonNode, Reply> held = new ConcurrentHashMap<>();
    private final Map<JsonNode, Asked> asked = new ConcurrentHashMap<>();

    private record Asked(Message request, Reply reply, String tool) {}

    ScriptedConversation(String owner, Client client) {
        this.owner = owner;
        this.client = client;
    }

    @Override
    public void request(Message request, Reply reply) {
        heard.add(request);
        switch (request.method()) {
            case "initialize" -> reply.end(Message.result(request.id(), greeting()));
            case "ping", "resources/subscribe", "resources/unsubscribe" ->
                reply.end(Message.result(request.id(), Json.mapper().createObjectNode()));
            case "tools/list" -> reply.end(Message.result(request.id(), tools()));
            case "tools/call" ->
                call(request, reply, request.params().path("name").asString(""));
            case "broken" -> throw new IllegalStateException("broken on purpose");
            default -> throw new RpcException(RpcException.METHOD_NOT_FOUND, "unknown method: " + request.method());
        }
    }

    private static ObjectNode greeting() {
        return (ObjectNode) tree("""
                {"protocolVersion": "2025-11-25", "serverInfo": {"name": "scripted", "version": "1"},
                 "instructions": "be kind",
                 "capabilities": {"tools": {"listChanged": true}, "logging": {}, "tasks": {},
                                  "resources": {"subscribe": true}}}""");
    }

    private static ObjectNode tools() {
        return (ObjectNode) tree("""
                {"tools": [{"name": "echo", "inputSchema": {"type": "object"}},
                           {"name": "regional", "inputSchema": {"type": "object", "properties": {
                              "region": {"type": "string", "x-mcp-header": "Region"},
                              "size": {"type": "integer", "x-mcp-header": "Size"}}}}]}""");
    }

    static JsonNode tree(String json) {
        return Json.mapper().readTree(json);
    }

    private void call(Message request, Reply reply, String tool) {
        switch (tool) {
            case "echo", "regional" ->
                reply.end(text(request, request.params().path("arguments").toString()));
            case "steps" -> {
                var token = request.params().path("_meta").path("progressToken");
                for (int i = 1; i <= 3; i++) {
                    var params = Json.mapper().createObjectNode().put("progress", i);
                    params.set("progressToken", token);
                    reply.send(Message.notification("notifications/progress", params));
                }
                for (String level : List.of("debug", "warning")) {
                    reply.send(Message.notification(
                            "notifications/message",
                            Json.mapper().createObjectNode().put("level", level).put("data", level)));
                }
                reply.end(text(request, "done"));
            }
            case "large" -> reply.end(text(request, "x".repeat(64 << 20)));
            case "hold" -> {
                held.put(request.id(), reply);
                reply.send(notice("holding"));
            }
            case "poll" -> {
                held.put(request.id(), reply);
                reply.letGo();
            }
            case "flood" ->
                Thread.ofVirtual().start(() -> {
                    for (int i = 0; i < 20_000; i++) {
                        reply.send(notice("x".repeat(1000)));
                    }
                    reply.end(text(request, "flooded"));
                    told.add("flooded");
                });
            case "ask", "named", "twice", "root" -> ask(request, reply, tool, tool.equals("twice") ? 2 : 1);
            default -> throw new RpcException(RpcException.INVALID_PARAMS, "unknown tool: " + tool);
        }
    }

    private void ask(Message request, Reply reply, String tool, int times) {
        for (int i = 1; i <= times; i++) {
            var id = Json.mapper()
                    .getNodeFactory()
                    .stringNode("%s-%d".formatted(request.id().asString(), i));
            asked.put(id, new Asked(request, reply, tool));
            String method = tool.equals("root") ? "roots/list" : "elicitation/create";
            var params = Json.mapper().createObjectNode().put("message", "number " + i);
            if (tool.equals("named")) {
                params.putObject("_meta").put("dev.cay/inputKey", "user_name");
            }
            reply.send(Message.request(id, method, params));
        }
    }

    static Message notice(String text) {
        return Message.notification(
                "notifications/message",
                Json.mapper().createObjectNode().put("level", "info").put("data", text));
    }

    private static Message text(Message request, String text) {
        var result = Json.mapper().createObjectNode();
        result.putArray("content").addObject().put("type", "text").put("text", text);
        return Message.result(request.id(), result);
    }

    /// Ends what is held.
    void release() {
        held.forEach((id, reply) -> {
            var result = Json.mapper().createObjectNode().put("released", true);
            reply.end(Message.result(id, result));
        });
        held.clear();
    }

    @Override
    public void notification(Message notification) {
        heard.add(notification);
        told.add(notification.method());
    }

    @Override
    public void response(Message response) {
        heard.add(response);
        var question = asked.remove(response.id());
        if (question != null && asked.isEmpty()) {
            question.reply.end(
                    text(question.request, "answer " + response.tree().path("result")));
        }
    }

    @Override
    public void close() {
        told.add("closed");
    }
}
