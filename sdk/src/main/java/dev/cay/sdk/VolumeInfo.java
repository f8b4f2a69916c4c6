package dev.cay.sdk;

import tools.jackson.databind.JsonNode;

/// A volume in a list.
///
/// @param sizeMB how much it may hold; 0 where the server does not tell
public record VolumeInfo(String id, String name, long sizeMB) {
    static VolumeInfo of(JsonNode json) {
        return new VolumeInfo(
                json.path("volumeID").asString(),
                json.path("name").asString(),
                json.path("sizeMB").asLong(0));
    }
}
