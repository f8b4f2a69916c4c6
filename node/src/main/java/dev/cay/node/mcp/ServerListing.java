package dev.cay.node.mcp;

import dev.cay.http.Json;
import dev.cay.mcp.protocol.RpcException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Reads a list of a server, page by page, and leaves out invalid items.
record ServerListing(Upstream upstream, Listed kind) {
    private static final Logger log = LoggerFactory.getLogger(ServerListing.class);
    /// How long a running server may take to answer.
    private static final Duration LIMIT = Duration.ofSeconds(15);

    private static final int MOST_PAGES = 100;
    private static final int MOST_ITEMS = 2000;
    private static final int MOST_BYTES = 8 << 20;

    List<ObjectNode> fetch() {
        var items = new ArrayList<ObjectNode>();
        var cursors = new HashSet<String>();
        String cursor = "";
        long bytes = 0;
        for (int page = 0; page < MOST_PAGES; page++) {
            var result = page(cursor);
            for (var item : result.path(kind.field())) {
                bytes += item.toString().length();
                if (items.size() >= MOST_ITEMS || bytes > MOST_BYTES) {
                    log.atWarn()
                            .addKeyValue("server", upstream.server().key())
                            .addKeyValue("list", kind.method())
                            .log("the list of an MCP server exceeds its limit; the rest is left out");
                    return items;
                }
                if (item instanceof ObjectNode object
                        && object.path(kind.identity()).isString()) {
                    items.add(kind == Listed.TOOLS ? acceptable(object) : object);
                }
            }
            cursor = result.path("nextCursor").asString("");
            if (cursor.isEmpty() || !cursors.add(cursor)) {
                break;
            }
        }
        return items;
    }

    /// Repairs the schema of a tool, which must be that of an object. Clients refuse a whole list for one invalid
    /// tool, with all tools of other servers in it.
    static ObjectNode acceptable(ObjectNode tool) {
        var input = tool.path("inputSchema") instanceof ObjectNode schema ? schema : tool.putObject("inputSchema");
        input.put("type", "object");
        if (!tool.path("outputSchema").path("type").asString("").equals("object")) {
            tool.remove("outputSchema");
        }
        return tool;
    }

    private JsonNode page(String cursor) {
        var params = Json.mapper().createObjectNode();
        if (!cursor.isEmpty()) {
            params.put("cursor", cursor);
        }
        var answer = upstream.call(kind.method(), params, null, LIMIT).tree();
        if (!answer.has("result")) {
            throw new RpcException(
                    RpcException.INTERNAL_ERROR,
                    "%s does not tell its %s: %s"
                            .formatted(
                                    upstream.server().key(),
                                    kind.field(),
                                    Texts.brief(
                                            answer.path("error").path("message").asString(""))));
        }
        return answer.path("result");
    }
}
