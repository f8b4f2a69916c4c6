package dev.cay.server.access;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/// An API key as far as it is kept: all but the key itself.
///
/// @param id         names it in the API
/// @param maskPrefix how the key begins, behind `e2b_`
/// @param maskSuffix how it ends
/// @param expiresAt  from when on it is refused; null for never
/// @param lastUsed   as far as that is written down; null for never
public record TeamKey(
        String id,
        Team team,
        String name,
        KeyScope scope,
        String maskPrefix,
        String maskSuffix,
        Instant createdAt,
        @Nullable Instant expiresAt,
        @Nullable Instant lastUsed) {
    /// What a listing shows of it.
    public String masked() {
        return ApiKey.PREFIX + maskPrefix + "..." + maskSuffix;
    }

    boolean isOver(Instant now) {
        return expiresAt != null && !expiresAt.isAfter(now);
    }

    TeamKey named(String other) {
        return new TeamKey(id, team, other, scope, maskPrefix, maskSuffix, createdAt, expiresAt, lastUsed);
    }

    TeamKey until(@Nullable Instant end) {
        return new TeamKey(id, team, name, scope, maskPrefix, maskSuffix, createdAt, end, lastUsed);
    }

    TeamKey used(@Nullable Instant at) {
        return new TeamKey(id, team, name, scope, maskPrefix, maskSuffix, createdAt, expiresAt, at);
    }
}
