package dev.cay.server.sandbox;

import dev.cay.server.access.Team;
import dev.cay.server.template.StartPoint;
import dev.cay.wire.SandboxId;
import dev.cay.wire.TeamId;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.UUID;

/// How a sandbox begins: from a template as a client wishes, or like another one.
record Beginning(
        TeamId teamId,
        StartPoint from,
        Duration timeout,
        boolean secure,
        Map<String, String> metadata,
        Map<String, String> environment,
        SandboxNetwork network,
        Lifecycle lifecycle,
        boolean isFork) {

    static Beginning of(Team team, NewSandbox wanted, StartPoint from) {
        return new Beginning(
                team.id(),
                from,
                wanted.timeout(),
                wanted.secure(),
                wanted.metadata(),
                wanted.environment(),
                wanted.network(),
                wanted.lifecycle(),
                false);
    }

    /// Variables come with the snapshot.
    static Beginning like(SandboxRecord source, StartPoint from, Duration timeout) {
        return new Beginning(
                source.teamId(),
                from,
                timeout,
                source.secure(),
                source.metadata(),
                Map.of(),
                source.network(),
                source.lifecycle(),
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
                from.resources(),
                metadata,
                network,
                lifecycle,
                now,
                now.plus(timeout),
                null);
    }
}
