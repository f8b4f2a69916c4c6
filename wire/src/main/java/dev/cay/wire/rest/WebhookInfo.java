package dev.cay.wire.rest;

import com.fasterxml.jackson.annotation.JsonProperty;
import dev.cay.wire.TeamId;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A webhook as its team sees it. The secret is never shown.
///
/// @param sameTeam       the same as `teamId`, as older documents spell it
/// @param failingSince   since when every attempt fails; null while attempts succeed
/// @param disabledAt     when Cay switched it off; null if it did not
/// @param disabledReason why Cay did
public record WebhookInfo(
        String id,
        TeamId teamId,
        @JsonProperty("teamID") TeamId sameTeam,
        String name,
        Instant createdAt,
        boolean enabled,
        String url,
        List<String> events,
        @Nullable Instant failingSince,
        @Nullable Instant disabledAt,
        @Nullable String disabledReason) {
    public WebhookInfo {
        events = List.copyOf(events);
    }
}
