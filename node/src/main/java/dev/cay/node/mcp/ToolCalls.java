package dev.cay.node.mcp;

import dev.cay.config.Suggestion;
import dev.cay.http.Json;
import dev.cay.mcp.protocol.Message;
import dev.cay.mcp.protocol.RpcException;
import dev.cay.node.mcp.catalog.Interception.When;
import dev.cay.node.mcp.intercept.CallWatch;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.time.Duration;
import java.util.function.Supplier;
import tools.jackson.databind.node.NullNode;
import tools.jackson.databind.node.ObjectNode;

/// Executes tool calls of a gateway's clients: a tool of the gateway, of a server, or of a server through one of the
/// gateway's. Thread-safe.
///
/// @param own   the tools of the gateway
/// @param watch the operator's interceptors
record ToolCalls(MetaToolList own, MetaTools meta, CallWatch watch, GatewayLog log, GatewayMeters meters) {
    private static final int NEAREST = 3;
    private static final String CALL = "tools/call";
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    /// @param lists what servers list for the calling client
    /// @param limit how long a server may take without a sign
    /// @return a response under any id
    Message call(Servers lists, Message request, Upstream.Call call, Duration limit) {
        String name = request.params().path("name").asString("");
        if (name.equals(MetaToolList.EXEC) && own.names(Listed.TOOLS).contains(name)) {
            return execute(lists, request, call, limit);
        }
        if (own.names(Listed.TOOLS).contains(name)) {
            var result = meta.call(name, request.params().path("arguments"), lists);
            return Message.result(request.id(), result);
        }
        if (own.hides(Listed.TOOLS)) {
            throw new RpcException(
                    RpcException.INVALID_PARAMS,
                    "unknown tool: %s; %s calls those of servers".formatted(Texts.brief(name), MetaToolList.EXEC));
        }
        return forward(lists.named(Listed.TOOLS, name), (ObjectNode) request.params(), call, limit);
    }

    /// Executes a call. Errors about names are results, because the calling model can react to them.
    private Message execute(Servers lists, Message request, Upstream.Call call, Duration limit) {
        try {
            var given = request.params().path("arguments");
            String name = ToolArguments.text(given, "name");
            var params = ((ObjectNode) request.params()).deepCopy();
            params.set("arguments", ToolArguments.object(given, "arguments"));
            return forward(named(lists, name), params, call, limit);
        } catch (CayException e) {
            return Message.result(request.id(), ToolResults.failed(e.userMessage()));
        }
    }

    private static Servers.Named named(Servers lists, String name) {
        try {
            return lists.named(Listed.TOOLS, name);
        } catch (RpcException e) {
            if (e.code() != RpcException.INVALID_PARAMS) {
                throw e;
            }
            var known = lists.merged(Listed.TOOLS, PATIENCE).table().keySet();
            var near = Suggestion.several(Texts.brief(name), known, NEAREST);
            throw ToolArguments.invalid("no server has the tool %s; %s"
                    .formatted(
                            Texts.brief(name),
                            near.isEmpty()
                                    ? "mcp-find and mcp-add tell names"
                                    : "did you mean " + String.join(" or ", near) + "?"));
        }
    }

    /// Forwards a call under the server's name of the tool, if interceptors allow it.
    private Message forward(Servers.Named tool, ObjectNode given, Upstream.Call call, Duration limit) {
        var server = tool.server();
        long began = System.nanoTime();
        boolean well = false;
        try {
            // Only top-level fields are changed.
            var params = Json.mapper().createObjectNode().setAll(given).put("name", tool.own());
            var response = watched(server.key(), tool, params, call, limit);
            var tree = response.tree();
            well = tree.has("result") && !tree.path("result").path("isError").asBoolean(false);
            return response;
        } catch (CayException e) {
            if (e.kind() != ErrorKind.CANCELED) {
                log.say("%s: call of %s stopped by an interceptor".formatted(server.key(), Texts.brief(tool.own())));
            }
            return Message.result(NullNode.getInstance(), ToolResults.failed(e.userMessage()));
        } catch (RpcException e) {
            throw Barred.error(server).orElse(e);
        } finally {
            called(server, tool.own(), well, began);
        }
    }

    /// Logs a call with its outcome, without arguments and results.
    private void called(GatewayServer server, String tool, boolean well, long began) {
        meters.called(server.key(), tool, well, began);
        var took = Duration.ofNanos(System.nanoTime() - began);
        log.say("%s: call of %s %s, %d ms"
                .formatted(server.key(), Texts.brief(tool), well ? "done" : "failed", took.toMillis()));
    }

    private Message watched(String key, Servers.Named tool, ObjectNode params, Upstream.Call call, Duration limit) {
        if (watch.concerns(When.BEFORE, key, tool.own())) {
            var arguments = ToolArguments.object(params, "arguments");
            params.set("arguments", watch.look(When.BEFORE, key, tool.own(), arguments));
        }
        if (!watch.concerns(When.AFTER, key, tool.own())) {
            return tool.upstream().call(CALL, params, call, limit);
        }
        // A result that is fetched later would bypass interceptors.
        params.remove("task");
        var result = result(() -> tool.upstream().call(CALL, params, call, limit));
        return Message.result(NullNode.getInstance(), watch.look(When.AFTER, key, tool.own(), result));
    }

    /// The result of a call. An error may contain a server's text, so interceptors check it like other results.
    private static ObjectNode result(Supplier<Message> call) {
        try {
            var response = call.get().tree();
            return response.path("result") instanceof ObjectNode result
                    ? result
                    : ToolResults.failed(response.path("error").path("message").asString("the call failed"));
        } catch (RpcException e) {
            if (Thread.currentThread().isInterrupted()) {
                throw e;
            }
            return ToolResults.failed(String.valueOf(e.getMessage()));
        }
    }
}
