package dev.cay.sdk;

import tools.jackson.databind.JsonNode;

/// One entry of a list of volumes.
///
/// @param sizeMB its size limit; 0 if the server does not say
public record VolumeInfo(String id, String name, long sizeMB) {
    static VolumeInfo of(JsonNode json) {
        return new VolumeInfo(
                json.path("volumeID").asString(),
                json.path("name").asString(),
                json.path("sizeMB").asLong(0));
    }
}
