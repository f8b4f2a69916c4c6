package dev.cay.server.webhook;

import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import java.util.Map;
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
