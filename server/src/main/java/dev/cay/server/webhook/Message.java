package dev.cay.server.webhook;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/// One event for one webhook.
///
/// @param sequence  orders the messages of a sandbox
/// @param body      the bytes that every attempt sends
/// @param attempts  failed attempts since it was opened
/// @param createdAt when the event happened
/// @param firstAt   the first failed attempt since it was opened; null while there is none
record Message(
        long sequence,
        String webhookId,
        String eventId,
        String eventType,
        String sandboxId,
        String body,
        State state,
        int attempts,
        Instant createdAt,
        @Nullable Instant firstAt) {
    /// The state of delivery.
    enum State {
        /// Still to be sent.
        OPEN,
        DELIVERED,
        /// The receiver did not accept it for a day.
        FAILED
    }
}
