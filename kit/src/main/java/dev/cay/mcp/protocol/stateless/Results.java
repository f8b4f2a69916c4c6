package dev.cay.mcp.protocol.stateless;

import dev.cay.http.Json;
import dev.cay.mcp.protocol.Message;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Answers of a conversation in the words of 2026-07-28.
final class Results {
    /// Results that clients may cache. How long is up to them, because no list is guaranteed to stay the same.
    private static final Set<String> KEPT = Set.of(
            "server/discover",
            "tools/list",
            "prompts/list",
            "resources/list",
            "resources/templates/list",
            "resources/read");

    private Results() {}

    /// @param id       what the client called its request
    /// @param greeting with the server's name
    static Message complete(String method, JsonNode id, Message answer, JsonNode greeting) {
        var tree = answer.tree().deepCopy();
        tree.set("id", id);
        if (tree.path("result") instanceof ObjectNode result) {
            mark(result, greeting);
            if (!result.path("resultType").isString()) {
                result.put("resultType", "complete");
            }
            if (KEPT.contains(method)) {
                keep(result);
            }
        }
        return new Message(tree);
    }

    private static void keep(ObjectNode result) {
        if (!result.path("ttlMs").isIntegralNumber()) {
            result.put("ttlMs", 0);
        }
        // The result depends on the token's owner, so it must not be shared.
        result.put("cacheScope", "private");
    }

    static Message inputRequired(JsonNode id, ObjectNode questions, String state, JsonNode greeting) {
        var result = Json.mapper().createObjectNode().put("resultType", "input_required");
        result.set("inputRequests", questions);
        result.put("requestState", state);
        mark(result, greeting);
        return Message.result(id, result);
    }

    static Message discovery(JsonNode id, JsonNode greeting) {
        var result = Json.mapper().createObjectNode();
        result.putArray("supportedVersions").add(StatelessTransport.REVISION);
        var capabilities = greeting.path("capabilities") instanceof ObjectNode known
                ? known.deepCopy()
                : Json.mapper().createObjectNode();
        // `tasks` has another meaning in that revision.
        capabilities.remove("tasks");
        result.set("capabilities", capabilities);
        if (greeting.path("instructions").isString()) {
            result.set("instructions", greeting.path("instructions"));
        }
        return complete("server/discover", id, Message.result(id, result), greeting);
    }

    static void mark(ObjectNode result, JsonNode greeting) {
        if (greeting.path("serverInfo").isObject()) {
            result.withObject("_meta").set(Envelope.SERVER, greeting.path("serverInfo"));
        }
    }
}
