package dev.cay.server.webhook;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Times of retries: when a failed message is sent again, how long it holds back later ones, and when it is given up.
final class RetrySchedule {
    /// E2B's three come first, 10 seconds apart.
    private static final List<Duration> DELAYS = List.of(
            Duration.ofSeconds(10),
            Duration.ofSeconds(10),
            Duration.ofSeconds(10),
            Duration.ofMinutes(1),
            Duration.ofMinutes(2),
            Duration.ofMinutes(5),
            Duration.ofMinutes(10),
            Duration.ofMinutes(10),
            Duration.ofMinutes(15));

    /// Retries of a message that was sent again by hand, as many and as far apart as E2B's.
    private static final int REDELIVERY_RETRIES = 3;

    private static final Duration LATER = Duration.ofMinutes(30);
    private static final Duration HOLD = Duration.ofHours(1);
    static final Duration OPEN = Duration.ofDays(1);

    /// Number of failed attempts after which only the last answer of a receiver is kept.
    static final int ANSWERS_KEPT = 4;

    /// No time that this schedule gives is further away. One that is was written before the clock was set back.
    static final Duration FURTHEST = HOLD;

    private RetrySchedule() {}

    /// @param failed how many attempts have failed, from 1
    static Instant next(int failed, Instant now) {
        return now.plus(failed <= DELAYS.size() ? DELAYS.get(failed - 1) : LATER);
    }

    static boolean isOver(Instant firstFailure, Instant now) {
        return !now.isBefore(firstFailure.plus(OPEN));
    }

    /// Whether a message is given up after its last attempt.
    ///
    /// @param failed how many attempts have failed, from 1
    static boolean isLast(Message message, int failed, Instant firstFailure, Instant now) {
        return message.redelivered() ? failed > REDELIVERY_RETRIES : isOver(firstFailure, now);
    }

    /// Until when later messages of the sandbox wait for this one.
    ///
    /// While a receiver is down, all messages fail, one after the other. If each held back the others for an hour
    /// of its own, the last one would wait for days. So messages that waited together are released together.
    ///
    /// @param lineFailing time of the first failure of the earliest open message; null if there is none before
    static Instant holdUntil(Instant createdAt, Instant firstFailure, @Nullable Instant lineFailing) {
        Instant since = lineFailing == null || firstFailure.isBefore(lineFailing) ? firstFailure : lineFailing;
        return (createdAt.isAfter(since) ? min(createdAt, firstFailure) : since).plus(HOLD);
    }

    private static Instant min(Instant one, Instant other) {
        return one.isBefore(other) ? one : other;
    }
}
