package dev.cay.node.mcp;

import dev.cay.http.Json;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import tools.jackson.databind.node.ObjectNode;

/// The tools of a gateway that are about its servers, as clients see them.
///
/// @param choice whether clients get them, and whether they get others
record MetaToolList(MetaChoice choice) {
    static final String EXEC = "mcp-exec";
    static final String FIND = "mcp-find";
    static final String ADD = "mcp-add";
    static final String REMOVE = "mcp-remove";

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
}
