package dev.cay.server.access;

import org.jspecify.annotations.Nullable;

/// The sender of a request.
///
/// @param key the API key of the request; null for the operator, who acts for the team
public record Caller(Team team, @Nullable TeamKey key) {
    /// Whose limits count for what the sender makes, beside those of the team: all keys that took each other's place.
    public @Nullable String keyFamily() {
        return key == null ? null : key.family();
    }

    public KeyScope scope() {
        return key == null ? KeyScope.ALL : key.scope();
    }
}
