package dev.cay.server.secret;

import dev.cay.wire.TeamId;
import java.time.Instant;
import java.util.Map;

/// A secret as the database has it.
///
/// @param version    grows by one with each value
/// @param sealed     its value, bound to id and version
/// @param sealedWith the key that opens it
record TeamSecret(
        String id,
        TeamId team,
        String name,
        int version,
        Map<String, String> metadata,
        String sealed,
        String sealedWith,
        Instant createdAt,
        Instant updatedAt) {
    TeamSecret {
        metadata = Map.copyOf(metadata);
    }

    /// The associated data of the sealed value: in the row of another secret, or of another version, it does not open.
    static String row(String id, int version) {
        return "secret:%s:%d".formatted(id, version);
    }

    String row() {
        return row(id, version);
    }

    TeamSecret withSealed(String other, String key) {
        return new TeamSecret(id, team, name, version, metadata, other, key, createdAt, updatedAt);
    }
}
