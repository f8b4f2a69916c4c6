package dev.cay.server.webhook;

import dev.cay.server.store.Store;
import java.time.Instant;
import org.jdbi.v3.core.Handle;

/// Records the result of an attempt, and the resulting state of its message and its webhook.
final class AttemptRecords {
    private final Store store;

    AttemptRecords(Store store) {
        this.store = store;
    }

    /// The effect of an attempt.
    enum Result {
        /// Only the message has changed.
        NOTED,
        /// The webhook was switched off.
        DISABLED,
        /// The message was deleted meanwhile.
        GONE
    }

    Result write(Webhook webhook, Message message, Attempt attempt, Instant now) {
        return store.write(handle -> write(handle, webhook, message, attempt, now));
    }

    /// May run twice, with the same result.
    private static Result write(Handle handle, Webhook webhook, Message message, Attempt attempt, Instant now) {
        if (!MessageStore.exists(handle, message)) {
            return Result.GONE;
        }
        AttemptStore.insert(handle, attempt);
        if (attempt.succeeded()) {
            MessageStore.delivered(handle, message);
            WebhookStore.noteSuccess(handle, webhook.id());
            return Result.NOTED;
        }
        return fail(handle, webhook, message, attempt, now);
    }

    private static Result fail(Handle handle, Webhook webhook, Message message, Attempt attempt, Instant now) {
        int attempts = message.attempts() + 1;
        if (attempts > RetrySchedule.ANSWERS_KEPT) {
            AttemptStore.forgetAnswersBefore(handle, attempt);
        }
        Instant first = message.firstAt() == null ? attempt.startedAt() : message.firstAt();
        Instant failingSince = WebhookStore.noteFailure(handle, webhook, attempt.startedAt());
        if (!RetrySchedule.isLast(message, attempts, first, now)) {
            // A redelivered message has its hold already, one that is over.
            var hold = RetrySchedule.holdUntil(
                    message.createdAt(),
                    first,
                    MessageStore.lineFailing(handle, message).orElse(null));
            MessageStore.failed(handle, message, attempts, first, RetrySchedule.next(attempts, now), hold);
            return Result.NOTED;
        }
        MessageStore.givenUp(handle, message, attempts);
        if (!RetrySchedule.isOver(failingSince, now)) {
            return Result.NOTED;
        }
        String reason =
                "no event arrived since %s, and the last attempt failed: %s".formatted(failingSince, attempt.message());
        if (!WebhookStore.disable(handle, webhook, now, reason)) {
            return Result.NOTED;
        }
        MessageStore.giveUpAll(handle, webhook.id(), now);
        return Result.DISABLED;
    }
}
