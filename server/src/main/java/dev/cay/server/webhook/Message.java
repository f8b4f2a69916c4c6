package dev.cay.server.webhook;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// One event for one webhook.
///
/// @param sequence    orders the messages of a sandbox
/// @param body        the bytes that every attempt sends, without large fields unless {@link #parts} is empty
/// @param attempts    failed attempts since it was opened
/// @param createdAt   when the event happened
/// @param firstAt     the first failed attempt since it was opened; null while there is none
/// @param redelivered whether a user asked to send it again
/// @param givenUp     why it was given up where its attempts do not tell it; null otherwise
/// @param parts       ids of large fields that the body does not have
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
        @Nullable Instant firstAt,
        boolean redelivered,
        @Nullable GivenUp givenUp,
        List<String> parts) {
    /// Messages of a webhook that wait to be sent. Beyond that, further ones are given up at once, so that a
    /// receiver that is away does not fill the database.
    static final int MOST_OPEN = 10_000;

    Message {
        parts = List.copyOf(parts);
    }

    Message withBody(String whole) {
        return new Message(
                sequence,
                webhookId,
                eventId,
                eventType,
                sandboxId,
                whole,
                state,
                attempts,
                createdAt,
                firstAt,
                redelivered,
                givenUp,
                List.of());
    }

    /// The state of delivery.
    enum State {
        /// Still to be sent.
        OPEN("open"),
        DELIVERED("delivered"),
        /// The receiver did not accept it, or it was not sent at all.
        FAILED("given-up");

        private final String text;

        State(String text) {
            this.text = text;
        }

        /// As the API spells it.
        String text() {
            return text;
        }
    }

    /// The end of a message that was not tried until its end.
    record GivenUp(Reason reason, Instant at) {}

    /// Why a message was given up without another attempt.
    enum Reason {
        FULL("%d events waited for this webhook already".formatted(MOST_OPEN)),
        SWITCHED_OFF("the webhook was switched off, as nothing arrived there for a day");

        private final String sentence;

        Reason(String sentence) {
            this.sentence = sentence;
        }

        String sentence() {
            return sentence;
        }
    }
}
