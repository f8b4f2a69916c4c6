package dev.cay.sdk;

import java.time.Instant;
import java.util.Map;
import java.util.TreeMap;
import tools.jackson.databind.JsonNode;

/// A secret without its value, which cannot be read back.
///
/// @param version number of values it has had
public record SecretInfo(
        String id, String name, long version, Map<String, String> metadata, Instant createdAt, Instant updatedAt) {
    public SecretInfo {
        metadata = Map.copyOf(metadata);
    }

    static SecretInfo of(JsonNode json) {
        var metadata = new TreeMap<String, String>();
        json.path("metadata")
                .properties()
                .forEach(entry -> metadata.put(entry.getKey(), entry.getValue().asString("")));
        return new SecretInfo(
                json.path("secretID").asString(""),
                json.path("name").asString(""),
                json.path("currentVersion").asLong(0),
                metadata,
                Instant.parse(json.path("createdAt").asString("")),
                Instant.parse(json.path("updatedAt").asString("")));
    }
}
