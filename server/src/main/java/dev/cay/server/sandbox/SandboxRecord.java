package dev.cay.server.sandbox;

import dev.cay.server.network.SandboxNetwork;
import dev.cay.server.template.Origin;
import dev.cay.server.volume.MountedVolume;
import dev.cay.wire.BuildId;
import dev.cay.wire.SandboxId;
import dev.cay.wire.TeamId;
import dev.cay.wire.TemplateId;
import dev.cay.wire.node.Resources;
import dev.cay.wire.node.Saved;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// The record of a sandbox.
///
/// @param origin       what it was made of; null for one that an older Cay made
/// @param executionId  names one uninterrupted run; a resume begins another
/// @param version      counts the changes, so that an old copy never replaces a newer one
/// @param secure       whether its system ports require its access token
/// @param tokenVersion how often its tokens were renewed
/// @param startedAt    when this run began
/// @param endAt        its deadline; of a paused one, when it was paused
/// @param saved        what was saved of a paused one, also while it resumes; null while it runs
/// @param volumes      its mounted volumes, which never change
/// @param keyFamily    of the API key that it was created with, whose limits it counts for; null for the operator's
public record SandboxRecord(
        SandboxId id,
        TeamId teamId,
        TemplateId templateId,
        BuildId buildId,
        @Nullable String alias,
        @Nullable Origin origin,
        String executionId,
        SandboxState state,
        long version,
        boolean secure,
        int tokenVersion,
        Resources resources,
        Map<String, String> metadata,
        SandboxNetwork network,
        Lifecycle lifecycle,
        Instant startedAt,
        Instant endAt,
        @Nullable Saved saved,
        List<MountedVolume> volumes,
        @Nullable String keyFamily) {
    public SandboxRecord {
        metadata = Map.copyOf(metadata);
        volumes = List.copyOf(volumes);
    }

    /// Whether a request to one of its ports resumes it.
    public boolean wakes() {
        return lifecycle.autoResume() && (saved == null || saved.memory());
    }

    /// When its timeout, or the retention time of a paused sandbox, has to be acted on; empty during a transition.
    ///
    /// @param keepPaused how long paused ones are kept; null for ever
    Optional<Instant> dueAt(@Nullable Duration keepPaused) {
        return switch (state) {
            case RUNNING -> Optional.of(endAt);
            case PAUSED -> Optional.ofNullable(keepPaused).map(endAt::plus);
            case STARTING, PAUSING, RESUMING, KILLED -> Optional.empty();
        };
    }

    SandboxRecord in(SandboxState next) {
        return with(next, executionId, network, lifecycle, startedAt, endAt, saved);
    }

    SandboxRecord running(Instant from, Instant until) {
        return with(SandboxState.RUNNING, executionId, network, lifecycle, from, until, null);
    }

    /// A copy of the record for another run.
    SandboxRecord resumed(String execution, Instant from, Instant until) {
        return with(SandboxState.RUNNING, execution, network, lifecycle, from, until, null);
    }

    SandboxRecord paused(Saved what, Instant at) {
        return with(SandboxState.PAUSED, executionId, network, lifecycle, startedAt, at, what);
    }

    SandboxRecord until(Instant end) {
        return with(state, executionId, network, lifecycle, startedAt, end, saved);
    }

    SandboxRecord with(SandboxNetwork other) {
        return with(state, executionId, other, lifecycle, startedAt, endAt, saved);
    }

    /// A copy with renewed tokens.
    SandboxRecord withNewTokens() {
        return new SandboxRecord(
                id,
                teamId,
                templateId,
                buildId,
                alias,
                origin,
                executionId,
                state,
                version + 1,
                secure,
                tokenVersion + 1,
                resources,
                metadata,
                network,
                lifecycle,
                startedAt,
                endAt,
                saved,
                volumes,
                keyFamily);
    }

    SandboxRecord with(Lifecycle other) {
        return with(state, executionId, network, other, startedAt, endAt, saved);
    }

    private SandboxRecord with(
            SandboxState next,
            String execution,
            SandboxNetwork net,
            Lifecycle life,
            Instant from,
            Instant until,
            @Nullable Saved what) {
        return new SandboxRecord(
                id,
                teamId,
                templateId,
                buildId,
                alias,
                origin,
                execution,
                next,
                version + 1,
                secure,
                tokenVersion,
                resources,
                metadata,
                net,
                life,
                from,
                until,
                what,
                volumes,
                keyFamily);
    }
}
