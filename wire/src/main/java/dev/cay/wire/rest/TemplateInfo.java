package dev.cay.wire.rest;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.cay.wire.BuildId;
import dev.cay.wire.TemplateId;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A template in a list. The nullable fields are written as null: Python's client wants them there.
///
/// @param spares how many sandboxes were started in advance; an addition of Cay
@JsonInclude(JsonInclude.Include.ALWAYS)
public record TemplateInfo(
        TemplateId templateID,
        BuildId buildID,
        int cpuCount,
        int memoryMB,
        int diskSizeMB,
        @JsonProperty("public") boolean isPublic,
        List<String> aliases,
        List<String> names,
        Instant createdAt,
        Instant updatedAt,
        @Nullable String createdBy,
        @Nullable Instant lastSpawnedAt,
        long spawnCount,
        int buildCount,
        String envdVersion,
        String buildStatus,
        int spares) {
    public TemplateInfo {
        aliases = List.copyOf(aliases);
        names = List.copyOf(names);
    }
}
