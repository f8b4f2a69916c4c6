package dev.cay.server.webhook;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/// One request to a receiver and its result.
///
/// @param headers         of the request, without secrets
/// @param status          null without an answer
/// @param responseHeaders null without an answer
/// @param responseBody    the beginning; null without an answer
/// @param error           null if it succeeded
/// @param message         the reason of the failure; null if it succeeded
record Attempt(
        String id,
        String webhookId,
        String eventId,
        Instant startedAt,
        Duration duration,
        String url,
        Map<String, String> headers,
        @Nullable Integer status,
        @Nullable Map<String, String> responseHeaders,
        @Nullable String responseBody,
        @Nullable ErrorClass error,
        @Nullable String message) {
    Attempt {
        headers = Map.copyOf(headers);
    }

    /// Tells users why a message was given up without an attempt. It is made of the message and not stored.
    static Attempt notMade(Webhook webhook, Message message, Message.GivenUp end) {
        String id = UUID.nameUUIDFromBytes((webhook.id() + " " + message.eventId()).getBytes(StandardCharsets.UTF_8))
                .toString();
        return new Attempt(
                id,
                webhook.id(),
                message.eventId(),
                end.at(),
                Duration.ZERO,
                webhook.url(),
                Map.of(),
                null,
                null,
                null,
                ErrorClass.CANCELED,
                "given up: %s; redeliver it to send it".formatted(end.reason().sentence()));
    }

    boolean succeeded() {
        return error == null;
    }

    /// Why an attempt failed, in the contract's words.
    enum ErrorClass {
        HTTP_ERROR,
        DNS_ERROR,
        TIMEOUT,
        TRANSPORT_ERROR,
        REQUEST_ERROR,
        SIGNATURE_ERROR,
        CANCELED;

        String text() {
            return name().toLowerCase(Locale.ROOT);
        }
    }
}
