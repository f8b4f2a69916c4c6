package dev.cay.node.mcp;

import dev.cay.http.Json;
import dev.cay.node.mcp.catalog.Catalog;
import dev.cay.wire.CayException;
import java.time.Duration;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Executes calls of the gateway's own tools, with which a model finds servers in the catalog, adds and removes them.
/// Thread-safe.
///
/// The operator's rules about servers and their tools apply here too. Options may be credentials and are never
/// repeated.
final class MetaTools {
    /// Clients give up after a minute.
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    /// Changes the servers of a gateway permanently.
    interface Editor {
        /// Starts it in the background.
        GatewayServer add(String key, ObjectNode options);

        void remove(String key);
    }

    private final MetaToolList list;
    private final Catalog catalog;
    private final GatewayServers servers;
    private final Editor editor;

    MetaTools(MetaToolList list, Catalog catalog, GatewayServers servers, Editor editor) {
        this.list = list;
        this.catalog = catalog;
        this.servers = servers;
        this.editor = editor;
    }

    /// Calls one of these tools. Every error is a result, for the model to read.
    ///
    /// @param lists what servers list for the calling client
    ObjectNode call(String name, JsonNode arguments, Servers lists) {
        try {
            return switch (name) {
                case MetaToolList.FIND ->
                    new CatalogFinding(catalog, servers, lists, list.hides(Listed.TOOLS)).answer(arguments);
                case MetaToolList.ADD -> add(arguments, lists);
                case MetaToolList.REMOVE -> remove(arguments);
                default -> throw new IllegalArgumentException(name);
            };
        } catch (CayException e) {
            return ToolResults.failed(e.userMessage());
        }
    }

    private ObjectNode add(JsonNode arguments, Servers lists) {
        String key = ToolArguments.text(arguments, "name");
        var options = ToolArguments.object(arguments, "options");
        if (catalog.find(key).isEmpty()) {
            var near = catalog.nearest(key);
            throw ToolArguments.invalid("%s is not in the catalog; %s"
                    .formatted(
                            Texts.brief(key),
                            near.isEmpty()
                                    ? "mcp-find finds servers by words"
                                    : "did you mean " + String.join(" or ", near) + "?"));
        }
        return added(editor.add(key, options), lists);
    }

    /// Reports the tools of an added server, as far as they are known by now.
    private static ObjectNode added(GatewayServer server, Servers lists) {
        String key = server.key();
        var warnings = server.warnings();
        var tools = lists.merged(Listed.TOOLS, PATIENCE).items(server);
        var structured = Json.mapper()
                .createObjectNode()
                .put("name", key)
                .put("state", server.state().word());
        var names = structured.putArray("tools");
        tools.forEach(tool -> names.add(tool.path("name").asString()));
        var told = structured.putArray("warnings");
        warnings.forEach(told::add);
        String outcome = switch (server.state()) {
            case READY ->
                tools.isEmpty()
                        ? "%s was added. It has told of no tools yet.".formatted(key)
                        : "%s was added. Its tools: %s"
                                .formatted(
                                        key,
                                        names.valueStream()
                                                .map(JsonNode::asString)
                                                .collect(Collectors.joining(", ")));
            case STARTING -> "%s was added and is still starting; its tools are there when it is ready.".formatted(key);
            case NEEDS_AUTHORIZATION ->
                "%s was added and needs authorization: the user must open %s in a browser."
                        .formatted(key, server.authorize().orElse("the address that mcp-gateway status shows"));
            case FAILED ->
                "%s was added and does not start: %s. mcp-remove takes it out again.".formatted(key, server.reason());
        };
        var result = ToolResults.said(
                warnings.isEmpty() ? outcome : outcome + "\n" + String.join("\n", warnings), structured);
        return server.state() == ServerStatus.State.FAILED ? result.put("isError", true) : result;
    }

    private ObjectNode remove(JsonNode arguments) {
        String key = ToolArguments.text(arguments, "name");
        var _ = servers.require(key);
        editor.remove(key);
        return ToolResults.said(
                "%s was removed.".formatted(key),
                Json.mapper().createObjectNode().put("removed", key));
    }
}
