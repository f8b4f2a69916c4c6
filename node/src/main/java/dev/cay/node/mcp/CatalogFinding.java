package dev.cay.node.mcp;

import dev.cay.http.Json;
import dev.cay.node.mcp.catalog.Catalog;
import dev.cay.node.mcp.catalog.CatalogServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// The results of `mcp-find`: servers in the catalog, and tools of existing servers for clients that do not see these
/// in the list.
///
/// @param servers of the gateway
/// @param lists   what servers list for the calling client
/// @param tools   whether tools are found, too
record CatalogFinding(Catalog catalog, GatewayServers servers, Servers lists, boolean tools) {
    private static final int USUAL = 10;
    private static final int MOST = 50;
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    ObjectNode answer(JsonNode arguments) {
        var words = List.of(ToolArguments.text(arguments, "query").strip().split("\\s+"));
        int limit = limit(arguments.path("limit"));
        var structured = Json.mapper().createObjectNode();
        var lines = new ArrayList<String>();
        var found = structured.putArray("servers");
        catalog.search(words).stream().limit(limit).forEach(server -> {
            found.add(described(server));
            lines.add(line(server));
        });
        if (tools) {
            var matching = structured.putArray("tools");
            toolsAbout(words).stream().limit(limit).forEach(tool -> {
                matching.add(tool);
                lines.add("tool %s, arguments %s"
                        .formatted(tool.path("name").asString(), Json.text(tool.path("inputSchema"))));
            });
        }
        return ToolResults.said(
                lines.isEmpty() ? "Nothing fits these words; try others." : String.join("\n", lines), structured);
    }

    private static int limit(JsonNode given) {
        if (given.isMissingNode() || given.isNull()) {
            return USUAL;
        }
        if (!given.isIntegralNumber() || !given.canConvertToInt() || given.asInt() < 1 || given.asInt() > MOST) {
            throw ToolArguments.invalid("limit must be a whole number from 1 to %d".formatted(MOST));
        }
        return given.asInt();
    }

    private boolean isAdded(CatalogServer server) {
        return servers.find(server.key()).isPresent();
    }

    private static List<CatalogServer.Option> required(CatalogServer server) {
        return server.options().values().stream()
                .filter(CatalogServer.Option::required)
                .toList();
    }

    private ObjectNode described(CatalogServer server) {
        var node = Json.mapper()
                .createObjectNode()
                .put("key", server.key())
                .put("title", server.title())
                .put("category", server.category())
                .put("startable", !catalog.ways(server).isEmpty())
                .put("added", isAdded(server));
        var required = node.putArray("required");
        required(server).forEach(option -> required.add(option.name()));
        var options = node.putArray("options");
        for (var option : server.options().values()) {
            options.addObject()
                    .put("name", option.name())
                    .put("type", option.type().word())
                    .put("secret", option.secret());
        }
        if (!server.anyOf().isEmpty()) {
            var oneOf = node.putArray("oneOf");
            server.anyOf().forEach(group -> group.forEach(oneOf.addArray()::add));
        }
        return node;
    }

    private String line(CatalogServer server) {
        var needed = required(server).stream()
                .map(option -> option.secret() ? option.name() + " (secret)" : option.name())
                .collect(Collectors.toCollection(ArrayList::new));
        if (!server.anyOf().isEmpty()) {
            needed.add(server.anyOf().stream()
                    .map(group -> String.join(" and ", group))
                    .collect(Collectors.joining(" or ")));
        }
        return "%s: %s; needs %s; %s"
                .formatted(
                        server.key(),
                        server.title(),
                        needed.isEmpty() ? "no options" : String.join(", ", needed),
                        isAdded(server)
                                ? "added"
                                : catalog.ways(server).isEmpty() ? "cannot be started here" : "can be added");
    }

    /// Tools that match most of the words come first.
    private List<ObjectNode> toolsAbout(List<String> words) {
        record Hit(ObjectNode tool, long words) {}
        return lists.merged(Listed.TOOLS, PATIENCE).items().stream()
                .map(tool -> {
                    String text = (tool.path("name").asString() + " "
                                    + tool.path("description").asString(""))
                            .toLowerCase(Locale.ROOT);
                    return new Hit(
                            tool,
                            words.stream()
                                    .filter(word -> text.contains(word.toLowerCase(Locale.ROOT)))
                                    .count());
                })
                .filter(hit -> hit.words > 0)
                .sorted(Comparator.comparingLong(Hit::words).reversed())
                .map(Hit::tool)
                .toList();
    }
}
