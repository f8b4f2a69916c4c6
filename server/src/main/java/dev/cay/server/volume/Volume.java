package dev.cay.server.volume;

import dev.cay.wire.TeamId;
import dev.cay.wire.VolumeId;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/// A volume as it should be.
///
/// @param sizeMB    how much it may hold
/// @param keyFamily of the API key that made it, whose share of the disk it counts for; null for the operator's
record Volume(
        VolumeId id,
        TeamId teamId,
        String name,
        long sizeMB,
        State state,
        Instant createdAt,
        @Nullable String keyFamily) {
    /// The state, by which unfinished work is found after a crash.
    enum State {
        /// On record, and perhaps on the node. No client knows it.
        CREATING,
        READY,
        /// Gone for clients, and perhaps still on the node.
        DELETING
    }

    Volume in(State next) {
        return new Volume(id, teamId, name, sizeMB, next, createdAt, keyFamily);
    }
}
