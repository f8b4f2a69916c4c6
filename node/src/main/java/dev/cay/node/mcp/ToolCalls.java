package dev.cay.node.mcp;

import dev.cay.config.Suggestion;
import dev.cay.http.Json;
import dev.cay.mcp.protocol.Message;
import dev.cay.mcp.protocol.RpcException;
import dev.cay.node.mcp.catalog.Interception.When;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.time.Duration;
import java.util.function.Supplier;
import tools.jackson.databind.node.NullNode;
import tools.jackson.databind.node.ObjectNode;

/// Executes a client's tool call: a tool of the gateway, of a server, or of a server through one of the gateway's.
record ToolCalls(McpGateway gateway, Servers servers) {
    private static final int NEAREST = 3;
    private static final String CALL = "tools/call";
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    /// @param limit how long a server may take without a sign
    /// @return a response under any id
    Message call(Message request, Upstream.Call call, Duration limit) {
        String name = request.params().path("name").asString("");
        var meta = gateway.meta();
        if (name.equals(MetaTools.EXEC) && meta.names(Listed.TOOLS).contains(name)) {
            return execute(request, call, limit);
        }
        if (meta.names(Listed.TOOLS).contains(name)) {
            var result = meta.call(name, request.params().path("arguments"), gateway, servers);
            return Message.result(request.id(), result);
        }
        if (meta.hides(Listed.TOOLS)) {
            throw new RpcException(
                    RpcException.INVALID_PARAMS,
                    "unknown tool: %s; %s calls those of servers".formatted(Texts.brief(name), MetaTools.EXEC));
        }
        return forward(servers.named(Listed.TOOLS, name), (ObjectNode) request.params(), call, limit);
    }

    /// Executes a call. Errors about names are results, because the calling model can react to them.
    private Message execute(Message request, Upstream.Call call, Duration limit) {
        try {
            var given = request.params().path("arguments");
            String name = MetaTools.text(given, "name");
            var params = ((ObjectNode) request.params()).deepCopy();
            params.set("arguments", MetaTools.object(given, "arguments"));
            return forward(named(name), params, call, limit);
        } catch (CayException e) {
            return Message.result(request.id(), ToolResults.failed(e.userMessage()));
        }
    }

    private Servers.Named named(String name) {
        try {
            return servers.named(Listed.TOOLS, name);
        } catch (RpcException e) {
            if (e.code() != RpcException.INVALID_PARAMS) {
                throw e;
            }
            var known = servers.merged(Listed.TOOLS, PATIENCE).table().keySet();
            var near = Suggestion.several(Texts.brief(name), known, NEAREST);
            throw MetaTools.invalid("no server has the tool %s; %s"
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
                gateway.log()
                        .say("%s: call of %s stopped by an interceptor"
                                .formatted(server.key(), Texts.brief(tool.own())));
            }
            return Message.result(NullNode.getInstance(), ToolResults.failed(e.userMessage()));
        } catch (RpcException e) {
            throw Barred.error(server).orElse(e);
        } finally {
            gateway.called(server, tool.own(), well, began);
        }
    }

    private Message watched(String key, Servers.Named tool, ObjectNode params, Upstream.Call call, Duration limit) {
        var watch = gateway.watch();
        if (watch.concerns(When.BEFORE, key, tool.own())) {
            var arguments = MetaTools.object(params, "arguments");
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
