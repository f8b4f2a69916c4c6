package dev.cay.wire.rest;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.cay.wire.BuildId;
import dev.cay.wire.TemplateId;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// A sandbox in a list.
///
/// @param buildID    the build or snapshot that it started from; an addition of Cay
/// @param lifecycle  an addition of Cay
/// @param keyID      of the API key that it was created with; absent for the operator; an addition of Cay
/// @param durability `frozen` or `saved`; absent while it runs; an addition of Cay
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ListedSandbox(
        TemplateId templateID,
        BuildId buildID,
        @Nullable String alias,
        String sandboxID,
        String clientID,
        Instant startedAt,
        Instant endAt,
        int cpuCount,
        int memoryMB,
        int diskSizeMB,
        Map<String, String> metadata,
        String state,
        SandboxDetail.Lifecycle lifecycle,
        @Nullable String keyID,
        @Nullable String durability,
        String envdVersion,
        List<SandboxVolumeMount> volumeMounts) {
    public ListedSandbox {
        metadata = Map.copyOf(metadata);
        volumeMounts = List.copyOf(volumeMounts);
    }
}
