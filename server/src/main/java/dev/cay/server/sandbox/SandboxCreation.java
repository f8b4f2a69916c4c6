package dev.cay.server.sandbox;

import dev.cay.server.access.Caller;
import dev.cay.server.network.SandboxNetwork;
import dev.cay.server.template.StartPoint;
import dev.cay.server.volume.MountedVolume;
import dev.cay.server.volume.WantedVolume;
import dev.cay.wire.SandboxId;
import dev.cay.wire.TeamId;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/// The inputs of a create: a template and a client's request, or another sandbox to copy.
///
/// @param key the family of the API key that it is created with; null for the operator's
record SandboxCreation(
        TeamId teamId,
        @Nullable String key,
        StartPoint from,
        Duration timeout,
        boolean secure,
        Map<String, String> metadata,
        Map<String, String> environment,
        SandboxNetwork network,
        Lifecycle lifecycle,
        List<MountedVolume> volumes,
        boolean isFork) {

    static SandboxCreation of(Caller caller, NewSandbox wanted, StartPoint point) {
        var before = point.volumes();
        var volumes = before == null
                ? WantedVolume.mounted(wanted.volumes())
                : WantedVolume.mounted(wanted.volumes(), before);
        // Memory that was saved without these places cannot get them.
        var from = before == null && !volumes.isEmpty() ? point.anew() : point;
        return new SandboxCreation(
                caller.team().id(),
                caller.keyFamily(),
                from,
                wanted.timeout(),
                wanted.secure(),
                wanted.metadata(),
                wanted.environment(),
                wanted.network(),
                wanted.lifecycle(),
                volumes,
                false);
    }

    /// Variables come with the snapshot.
    static SandboxCreation like(SandboxRecord source, Caller caller, StartPoint from, Duration timeout) {
        return new SandboxCreation(
                source.teamId(),
                caller.keyFamily(),
                from,
                timeout,
                source.secure(),
                source.metadata(),
                Map.of(),
                source.network(),
                source.lifecycle(),
                source.volumes(),
                true);
    }

    SandboxRecord record(SandboxId id, Instant now) {
        return new SandboxRecord(
                id,
                teamId,
                from.templateId(),
                from.buildId(),
                from.alias(),
                from.origin(),
                UUID.randomUUID().toString(),
                SandboxState.STARTING,
                1,
                secure,
                0,
                from.resources(),
                metadata,
                network,
                lifecycle,
                now,
                now.plus(timeout),
                null,
                volumes,
                key);
    }
}
