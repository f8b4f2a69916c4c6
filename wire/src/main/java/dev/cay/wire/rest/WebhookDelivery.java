package dev.cay.wire.rest;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.cay.wire.TeamId;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// One attempt to send an event to a webhook.
///
/// @param requestHeaders  JSON text, without secrets
/// @param responseHeaders JSON text
/// @param errorClass      null if the attempt succeeded
public record WebhookDelivery(
        String id,
        TeamId teamId,
        String webhookId,
        String eventId,
        String sandboxId,
        String eventType,
        String status,
        long durationMs,
        String requestBody,
        String requestHeaders,
        String requestUrl,
        @Nullable String responseBody,
        @Nullable String responseHeaders,
        @Nullable Integer responseHttpStatusCode,
        @JsonInclude(JsonInclude.Include.ALWAYS) @Nullable String errorClass,
        @Nullable String errorMessage,
        Instant timestamp) {

    /// The attempts for one event, in their order.
    ///
    /// @param state `open` while it is still to be sent, then `delivered` or `given-up`; Cay's own
    public record Group(
            String eventId, String eventType, String sandboxId, String state, List<WebhookDelivery> attempts) {
        public Group {
            attempts = List.copyOf(attempts);
        }
    }

    /// A part of the list.
    ///
    /// @param nextCursor where the next part begins; null for the last one
    public record Page(
            List<Group> data,

            @JsonInclude(JsonInclude.Include.ALWAYS) @Nullable
            String nextCursor) {
        public Page {
            data = List.copyOf(data);
        }
    }
}
