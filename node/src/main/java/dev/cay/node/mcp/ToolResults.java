package dev.cay.node.mcp;

import dev.cay.http.Json;
import tools.jackson.databind.node.ObjectNode;

/// Results of tool calls that the gateway itself makes.
final class ToolResults {
    private ToolResults() {}

    static ObjectNode said(String text, ObjectNode structured) {
        var result = text(text);
        result.set("structuredContent", structured);
        return result;
    }

    /// Read by a model, which may do better the next time.
    static ObjectNode failed(String why) {
        return text(why).put("isError", true);
    }

    private static ObjectNode text(String text) {
        var result = Json.mapper().createObjectNode();
        result.putArray("content").addObject().put("type", "text").put("text", text);
        return result;
    }
}
