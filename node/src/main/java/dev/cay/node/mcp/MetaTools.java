package dev.cay.node.mcp;

import dev.cay.http.Json;
import dev.cay.node.mcp.catalog.Catalog;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// The tools of a gateway that are about its servers: with them a model finds servers in the catalog, adds and removes
/// them, and calls tools that are not in its list. Thread-safe.
///
/// The operator's rules about servers and their tools apply here too. Options may be credentials and are never
/// repeated.
final class MetaTools {
    static final String EXEC = "mcp-exec";
    private static final String FIND = "mcp-find";
    private static final String ADD = "mcp-add";
    private static final String REMOVE = "mcp-remove";

    /// Clients give up after a minute.
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    /// Changes the servers of a gateway permanently.
    interface Editor {
        /// Starts it in the background.
        GatewayServer add(McpGateway gateway, String key, ObjectNode options);

        void remove(McpGateway gateway, String key);
    }

    private static final List<ObjectNode> TOOLS = definitions("""
            [{"name": "mcp-find", "title": "Find MCP servers",
              "description": "Searches the catalog of MCP servers by product, subject or category. Tells their keys, the \
            options they need, whether they can be started here and whether they are added already.",
              "inputSchema": {"type": "object", "required": ["query"], "properties": {
                "query": {"type": "string", "description": "words, like: jira tickets"},
                "limit": {"type": "integer", "minimum": 1, "maximum": 50, "description": "most results; 10 unless given"}}},
              "annotations": {"readOnlyHint": true, "openWorldHint": false}},
             {"name": "mcp-add", "title": "Add an MCP server",
              "description": "Adds a server of the catalog to this gateway and tells the names of its tools.",
              "inputSchema": {"type": "object", "required": ["name"], "properties": {
                "name": {"type": "string", "description": "its key, as mcp-find tells it"},
                "options": {"type": "object", "description": "values by the names of its options"}}},
              "annotations": {"readOnlyHint": false, "destructiveHint": false, "openWorldHint": true}},
             {"name": "mcp-remove", "title": "Remove an MCP server",
              "description": "Takes a server, with its tools and its options, out of this gateway.",
              "inputSchema": {"type": "object", "required": ["name"], "properties": {
                "name": {"type": "string", "description": "its key"}}},
              "annotations": {"readOnlyHint": false, "destructiveHint": true, "openWorldHint": false}},
             {"name": "mcp-exec", "title": "Call a tool of an MCP server",
              "description": "Calls a tool of a server of this gateway, also one that is not listed.",
              "inputSchema": {"type": "object", "required": ["name"], "properties": {
                "name": {"type": "string", "description": "the tool's name, as mcp-add or mcp-find tells it"},
                "arguments": {"type": "object", "description": "the tool's arguments"}}},
              "annotations": {"readOnlyHint": false, "destructiveHint": true, "openWorldHint": true}}]
            """);
    private static final Set<String> NAMES =
            TOOLS.stream().map(tool -> tool.path("name").asString()).collect(Collectors.toUnmodifiableSet());

    private final MetaChoice choice;
    private final Catalog catalog;
    private final Editor editor;

    MetaTools(MetaChoice choice, Catalog catalog, Editor editor) {
        this.choice = choice;
        this.catalog = catalog;
        this.editor = editor;
    }

    private static List<ObjectNode> definitions(String json) {
        return Json.mapper()
                .readTree(json)
                .valueStream()
                .map(ObjectNode.class::cast)
                .toList();
    }

    /// The names that servers' tools cannot have.
    Set<String> names(Listed kind) {
        return kind == Listed.TOOLS && choice != MetaChoice.OFF ? NAMES : Set.of();
    }

    /// The tools as clients get them.
    List<ObjectNode> offered(Listed kind) {
        return names(kind).isEmpty() ? List.of() : TOOLS;
    }

    /// Whether clients do not see what servers have.
    boolean hides(Listed kind) {
        return kind == Listed.TOOLS && choice == MetaChoice.ONLY;
    }

    /// The instructions about these tools.
    String instructions() {
        return hides(Listed.TOOLS)
                ? "Tools of MCP servers are not listed: mcp-find finds them and mcp-exec calls them. mcp-add adds servers."
                : "";
    }

    /// Calls one of these tools. Every error is a result, for the model to read.
    ///
    /// @param servers the servers of the calling client
    ObjectNode call(String name, JsonNode arguments, McpGateway gateway, Servers servers) {
        try {
            return switch (name) {
                case FIND -> new CatalogFinding(catalog, gateway, servers, hides(Listed.TOOLS)).answer(arguments);
                case ADD -> add(arguments, gateway, servers);
                case REMOVE -> remove(arguments, gateway);
                default -> throw new IllegalArgumentException(name);
            };
        } catch (CayException e) {
            return ToolResults.failed(e.userMessage());
        }
    }

    private ObjectNode add(JsonNode arguments, McpGateway gateway, Servers servers) {
        String key = text(arguments, "name");
        var options = object(arguments, "options");
        if (catalog.find(key).isEmpty()) {
            var near = catalog.nearest(key);
            throw invalid("%s is not in the catalog; %s"
                    .formatted(
                            Texts.brief(key),
                            near.isEmpty()
                                    ? "mcp-find finds servers by words"
                                    : "did you mean " + String.join(" or ", near) + "?"));
        }
        return added(editor.add(gateway, key, options), servers);
    }

    /// Reports the tools of an added server, as far as they are known by now.
    private static ObjectNode added(GatewayServer server, Servers servers) {
        String key = server.key();
        var warnings = server.warnings();
        var tools = servers.merged(Listed.TOOLS, PATIENCE).items(server);
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

    private ObjectNode remove(JsonNode arguments, McpGateway gateway) {
        String key = text(arguments, "name");
        gateway.require(key);
        editor.remove(gateway, key);
        return ToolResults.said(
                "%s was removed.".formatted(key),
                Json.mapper().createObjectNode().put("removed", key));
    }

    static String text(JsonNode arguments, String field) {
        var value = arguments.path(field);
        if (!value.isString() || value.asString().isBlank()) {
            throw invalid("%s must be a text that is not empty".formatted(field));
        }
        return value.asString();
    }

    static ObjectNode object(JsonNode arguments, String field) {
        var value = arguments.path(field);
        if (value.isMissingNode() || value.isNull()) {
            return Json.mapper().createObjectNode();
        }
        if (!(value instanceof ObjectNode object)) {
            throw invalid("%s must be an object, like {}".formatted(field));
        }
        return object;
    }

    static CayException invalid(String message) {
        return new CayException(ErrorKind.INVALID_ARGUMENT, message);
    }
}
