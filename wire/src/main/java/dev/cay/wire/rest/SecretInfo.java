package dev.cay.wire.rest;

import java.time.Instant;
import java.util.Map;

/// A secret as its team sees it: everything but its value.
///
/// @param currentVersion how many values it has had
public record SecretInfo(
        String secretID,
        String name,
        long currentVersion,
        Map<String, String> metadata,
        Instant createdAt,
        Instant updatedAt) {
    public SecretInfo {
        metadata = Map.copyOf(metadata);
    }
}
