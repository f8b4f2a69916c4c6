package dev.cay.server.access;

import org.jspecify.annotations.Nullable;

/// The sender of a request.
///
/// @param key the API key of the request; null for the operator, who acts for the team
public record Caller(Team team, @Nullable TeamKey key) {
    public @Nullable String keyId() {
        return key == null ? null : key.id();
    }

    public KeyScope scope() {
        return key == null ? KeyScope.ALL : key.scope();
    }
}
