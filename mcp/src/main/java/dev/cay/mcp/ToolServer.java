package dev.cay.mcp;

import dev.cay.http.Json;
import dev.cay.mcp.protocol.Conversation;
import dev.cay.mcp.protocol.Message;
import dev.cay.mcp.protocol.RpcException;
import dev.cay.sdk.SandboxException;
import dev.cay.wire.CayVersion;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.JsonNode;

/// Tools for one client, in the language of MCP.
public final class ToolServer implements Conversation {
    private static final Logger log = LoggerFactory.getLogger(ToolServer.class);

    /// Newest first. A client that asks for another one gets the newest, and decides.
    private static final List<String> VERSIONS = List.of("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05");

    private final Map<String, Tool> tools = new LinkedHashMap<>();
    private final Runnable farewell;
    private final ConcurrentMap<JsonNode, Thread> calls = new ConcurrentHashMap<>();

    /// @param farewell what is to be done about the sandboxes when the client goes
    ToolServer(OwnSandboxes sandboxes, Lifetimes lifetimes, Runnable farewell) {
        this.farewell = farewell;
        new SandboxTools(sandboxes, lifetimes).all().forEach(tool -> tools.put(tool.name(), tool));
    }

    @Override
    public void request(Message request, Reply reply) {
        try {
            switch (request.method()) {
                case "initialize" -> reply.end(Message.result(request.id(), greeting(request.params())));
                case "ping", "logging/setLevel" ->
                    reply.end(Message.result(request.id(), Json.mapper().createObjectNode()));
                case "tools/list" -> reply.end(Message.result(request.id(), list()));
                case "tools/call" -> call(request, reply);
                default -> throw new RpcException(RpcException.METHOD_NOT_FOUND, "unknown method: " + request.method());
            }
        } catch (RpcException e) {
            reply.end(Message.error(request.id(), e));
        }
    }

    private static JsonNode greeting(JsonNode params) {
        String wanted = params.path("protocolVersion").asString("");
        var greeting = Json.mapper().createObjectNode();
        greeting.put("protocolVersion", VERSIONS.contains(wanted) ? wanted : VERSIONS.getFirst());
        var capabilities = greeting.putObject("capabilities");
        capabilities.putObject("tools");
        capabilities.putObject("logging");
        greeting.putObject("serverInfo")
                .put("name", "cay")
                .put("title", "Cay sandboxes")
                .put("version", CayVersion.text());
        greeting.put(
                "instructions",
                "Sandboxes are Linux computers for running code. Create one, use its sandboxId in the other tools, and"
                        + " kill it when you are done.");
        return greeting;
    }

    private JsonNode list() {
        var list = Json.mapper().createObjectNode();
        var described = list.putArray("tools");
        tools.values().forEach(tool -> described.add(tool.described()));
        return list;
    }

    private void call(Message request, Reply reply) {
        String name = request.params().path("name").asString("");
        var tool = tools.get(name);
        if (tool == null) {
            throw new RpcException(
                    RpcException.INVALID_PARAMS,
                    "unknown tool: %s; there are %s".formatted(name, String.join(", ", tools.keySet())));
        }
        var token = request.params().path("_meta").path("progressToken");
        var thread = Thread.ofVirtual().name("tool-" + name).unstarted(() -> {
            JsonNode result;
            try (var progress = SignsOfLife.to(reply, token)) {
                result = result(tool, request.params().path("arguments"), progress);
            }
            // A client that cancelled a call gets no answer to it.
            if (calls.remove(request.id()) != null) {
                reply.end(Message.result(request.id(), result));
            }
        });
        if (calls.putIfAbsent(request.id(), thread) != null) {
            throw new RpcException(RpcException.INVALID_REQUEST, "a call with this id is under way");
        }
        thread.start();
    }

    private static JsonNode result(Tool tool, JsonNode arguments, Tool.Progress progress) {
        String problems = tool.problems(arguments);
        if (!problems.isEmpty()) {
            return Answer.error("%s: %s".formatted(tool.name(), problems));
        }
        try {
            return tool.work().on(new Tool.Arguments(tool, arguments), progress).result();
        } catch (ToolException e) {
            return Answer.error(String.valueOf(e.getMessage()));
        } catch (SandboxException e) {
            log.atInfo()
                    .addKeyValue("tool", tool.name())
                    .addKeyValue("kind", e.kind())
                    .log("a tool call failed");
            return Answer.error(explained(arguments.path("sandboxId").asString(""), e));
        } catch (RuntimeException e) {
            log.atError().setCause(e).addKeyValue("tool", tool.name()).log("a tool call failed unexpectedly");
            return Answer.error("this failed inside the server of the tools; its log says why");
        }
    }

    private static String explained(String sandbox, SandboxException e) {
        return switch (e.kind()) {
            case GONE -> "Sandbox %s not found: it was killed, or its time was up".formatted(sandbox);
            case UNAUTHORIZED -> "E2B_API_KEY is not accepted: " + e.getMessage();
            case UNAVAILABLE -> "the sandboxes cannot be reached: " + e.getMessage();
            default -> String.valueOf(e.getMessage());
        };
    }

    @Override
    public void notification(Message notification) {
        if ("notifications/cancelled".equals(notification.method())) {
            var call = calls.remove(notification.params().path("requestId"));
            if (call != null) {
                call.interrupt();
            }
        }
    }

    /// Nothing is ever asked of a client.
    @Override
    public void response(Message response) {}

    @Override
    public void close() {
        calls.values().forEach(Thread::interrupt);
        calls.clear();
        farewell.run();
    }
}
