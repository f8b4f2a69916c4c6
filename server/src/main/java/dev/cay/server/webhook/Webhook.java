package dev.cay.server.webhook;

import dev.cay.wire.TeamId;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A webhook: an address to which a team has events sent.
///
/// @param events         types, as the API names them
/// @param sealedSecret   the signing secret, sealed by {@link SigningSecrets}
/// @param failingSince   the first of the failed attempts after which none succeeded; null while attempts succeed
/// @param disabledAt     when Cay switched it off; null if it did not
/// @param disabledReason why Cay did
record Webhook(
        String id,
        TeamId teamId,
        String name,
        String url,
        List<String> events,
        String sealedSecret,
        boolean enabled,
        Instant createdAt,
        @Nullable Instant failingSince,
        @Nullable Instant disabledAt,
        @Nullable String disabledReason) {
    Webhook {
        events = List.copyOf(events);
    }

    /// Prints everything but the sealed secret.
    @Override
    public String toString() {
        return "Webhook[%s]".formatted(id);
    }
}
