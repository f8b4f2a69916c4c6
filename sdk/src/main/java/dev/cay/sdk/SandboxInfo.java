package dev.cay.sdk;

import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// The server's data about a sandbox.
///
/// @param alias the name of its template, if it has one
/// @param endAt when it times out; for a paused one, when it was paused
public record SandboxInfo(
        String id,
        String templateId,
        @Nullable String alias,
        State state,
        Instant startedAt,
        Instant endAt,
        int cpuCount,
        int memoryMB,
        int diskSizeMB,
        Map<String, String> metadata) {
    /// The state of a sandbox.
    public enum State {
        RUNNING,
        PAUSED
    }

    public SandboxInfo {
        metadata = Map.copyOf(metadata);
    }

    static SandboxInfo of(JsonNode json) {
        return new SandboxInfo(
                json.path("sandboxID").asString(""),
                json.path("templateID").asString(""),
                json.path("alias").isString() ? json.path("alias").asString() : null,
                "paused".equals(json.path("state").asString("")) ? State.PAUSED : State.RUNNING,
                Instant.parse(json.path("startedAt").asString("")),
                Instant.parse(json.path("endAt").asString("")),
                json.path("cpuCount").asInt(0),
                json.path("memoryMB").asInt(0),
                json.path("diskSizeMB").asInt(0),
                texts(json.path("metadata")));
    }

    static Map<String, String> texts(JsonNode object) {
        var texts = new LinkedHashMap<String, String>();
        object.propertyStream()
                .forEach(property ->
                        texts.put(property.getKey(), property.getValue().asString("")));
        return texts;
    }
}
