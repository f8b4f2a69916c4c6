package dev.cay.wire.rest;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.cay.wire.BuildId;
import dev.cay.wire.TemplateId;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A template with its builds.
///
/// @param spares how many sandboxes were started in advance; an addition of Cay
@JsonInclude(JsonInclude.Include.ALWAYS)
public record TemplateWithBuilds(
        TemplateId templateID,
        @JsonProperty("public") boolean isPublic,
        List<String> aliases,
        List<String> names,
        Instant createdAt,
        Instant updatedAt,
        @Nullable Instant lastSpawnedAt,
        long spawnCount,
        int spares,
        List<Build> builds) {
    public TemplateWithBuilds {
        aliases = List.copyOf(aliases);
        names = List.copyOf(names);
        builds = List.copyOf(builds);
    }

    /// One build of the template.
    public record Build(
            BuildId buildID,
            String status,
            Instant createdAt,
            Instant updatedAt,
            @Nullable Instant finishedAt,
            int cpuCount,
            int memoryMB,
            int diskSizeMB,
            String envdVersion) {}
}
