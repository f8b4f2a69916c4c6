package dev.cay.sdk;

import java.time.Instant;
import tools.jackson.databind.JsonNode;

/// A sandbox's use of resources at one moment. Sizes are in bytes.
///
/// @param cpuUsed percent; one fully used processor is 100
public record SandboxMetrics(
        Instant at, int cpuCount, double cpuUsed, long memoryUsed, long memoryTotal, long diskUsed, long diskTotal) {
    static SandboxMetrics of(JsonNode json) {
        return new SandboxMetrics(
                Instant.ofEpochSecond(json.path("timestampUnix").asLong(0)),
                json.path("cpuCount").asInt(0),
                json.path("cpuUsedPct").asDouble(0),
                json.path("memUsed").asLong(0),
                json.path("memTotal").asLong(0),
                json.path("diskUsed").asLong(0),
                json.path("diskTotal").asLong(0));
    }
}
