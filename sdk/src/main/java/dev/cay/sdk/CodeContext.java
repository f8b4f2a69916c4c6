package dev.cay.sdk;

import tools.jackson.databind.JsonNode;

/// A running interpreter with its own variables.
public record CodeContext(String id, String language, String cwd) {
    static CodeContext of(JsonNode json) {
        return new CodeContext(
                json.path("id").asString(""),
                json.path("language").asString(""),
                json.path("cwd").asString(""));
    }
}
