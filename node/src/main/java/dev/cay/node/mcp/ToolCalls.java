package dev.cay.node.mcp;

import dev.cay.config.Suggestion;
import dev.cay.rpc.Message;
import dev.cay.rpc.RpcException;
import dev.cay.wire.CayException;
import java.time.Duration;
import tools.jackson.databind.node.ObjectNode;

/// What becomes of a client's call of a tool, whether it is the gateway's own, a server's, or a server's that is called
/// through one of the gateway's.
record ToolCalls(McpGateway gateway, Servers servers) {
    private static final int NEAREST = 3;
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

    /// Whoever calls this is a model, which can do something about an unknown name if it is told.
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

    /// Under the name the server knows.
    private Message forward(Servers.Named tool, ObjectNode given, Upstream.Call call, Duration limit) {
        long began = System.nanoTime();
        boolean well = false;
        try {
            var params = given.deepCopy().put("name", tool.own());
            var response = tool.upstream().call("tools/call", params, call, limit);
            var tree = response.tree();
            well = tree.has("result") && !tree.path("result").path("isError").asBoolean(false);
            return response;
        } finally {
            gateway.called(tool.upstream().server(), tool.own(), well, began);
        }
    }
}
