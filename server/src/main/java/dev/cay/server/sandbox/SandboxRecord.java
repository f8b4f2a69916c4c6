package dev.cay.server.sandbox;

import dev.cay.wire.SandboxId;
import dev.cay.wire.node.Resources;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// A sandbox as it should be.
///
/// @param executionId names one uninterrupted run; a resume begins another
/// @param version     counts the changes, so that an old copy never replaces a newer one
/// @param secure      whether its system ports ask for its access token
/// @param endAt       when its time is over
public record SandboxRecord(
        SandboxId id,
        String teamId,
        String templateId,
        String buildId,
        @Nullable String alias,
        String executionId,
        SandboxState state,
        long version,
        boolean secure,
        Resources resources,
        Map<String, String> metadata,
        SandboxNetwork network,
        Instant startedAt,
        Instant endAt) {
    public SandboxRecord {
        metadata = Map.copyOf(metadata);
    }

    SandboxRecord in(SandboxState next) {
        return with(next, network, startedAt, endAt);
    }

    SandboxRecord running(Instant from, Instant until) {
        return with(SandboxState.RUNNING, network, from, until);
    }

    SandboxRecord until(Instant end) {
        return with(state, network, startedAt, end);
    }

    SandboxRecord with(SandboxNetwork other) {
        return with(state, other, startedAt, endAt);
    }

    private SandboxRecord with(SandboxState next, SandboxNetwork net, Instant from, Instant until) {
        return new SandboxRecord(
                id,
                teamId,
                templateId,
                buildId,
                alias,
                executionId,
                next,
                version + 1,
                secure,
                resources,
                metadata,
                net,
                from,
                until);
    }
}
