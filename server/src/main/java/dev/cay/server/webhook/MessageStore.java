package dev.cay.server.webhook;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/// The SQL of messages: which are to be sent next, and what became of them.
///
/// The messages of one sandbox for one webhook are a line. A message can be sent when all open ones before it in its
/// line were tried and their hold has ended.
final class MessageStore {
    private MessageStore() {}

    private static final String IS_DUE = """
            state = 'OPEN' AND (next_at <= :now OR next_at > :far)
            AND NOT EXISTS (SELECT 1 FROM webhook_message e
                WHERE e.webhook_id = m.webhook_id AND e.sandbox_id = m.sandbox_id AND e.state = 'OPEN'
                    AND e.sequence < m.sequence
                    AND (e.hold_until IS NULL OR (e.hold_until > :now AND e.hold_until <= :far)))
            """;

    /// The messages of a webhook that can be sent now, the most overdue first.
    static List<Message> due(Handle handle, String webhookId, Instant now, int most) {
        return handle.createQuery("SELECT * FROM webhook_message m WHERE webhook_id = :webhook AND " + IS_DUE
                        + " ORDER BY next_at, sequence LIMIT :most")
                .bind("webhook", webhookId)
                .bind("now", now.toEpochMilli())
                .bind("far", now.plus(RetrySchedule.FURTHEST).toEpochMilli())
                .bind("most", most)
                .map((row, context) -> message(row))
                .list();
    }

    /// The present state of a message, if it can still be sent now.
    static Optional<Message> ifDue(Handle handle, Message message, Instant now) {
        return handle.createQuery(
                        "SELECT * FROM webhook_message m WHERE sequence = :sequence AND event_id = :event AND "
                                + IS_DUE)
                .bind("sequence", message.sequence())
                .bind("event", message.eventId())
                .bind("now", now.toEpochMilli())
                .bind("far", now.plus(RetrySchedule.FURTHEST).toEpochMilli())
                .map((row, context) -> message(row))
                .findOne();
    }

    static boolean exists(Handle handle, Message message) {
        return handle.createQuery(
                                "SELECT count(*) FROM webhook_message WHERE sequence = :sequence AND event_id = :event")
                        .bind("sequence", message.sequence())
                        .bind("event", message.eventId())
                        .mapTo(Long.class)
                        .one()
                > 0;
    }

    static void delivered(Handle handle, Message message) {
        handle.execute(
                "UPDATE webhook_message SET state = 'DELIVERED' WHERE sequence = ? AND event_id = ? AND state = 'OPEN'",
                message.sequence(),
                message.eventId());
    }

    /// @param attempts that failed so far, this one included
    static void failed(Handle handle, Message message, int attempts, Instant firstAt, Instant nextAt, Instant hold) {
        handle.execute(
                """
                UPDATE webhook_message SET attempts = ?, first_at = ?, next_at = ?, hold_until = COALESCE(hold_until, ?)
                WHERE sequence = ? AND event_id = ? AND state = 'OPEN'
                """,
                attempts,
                firstAt.toEpochMilli(),
                nextAt.toEpochMilli(),
                hold.toEpochMilli(),
                message.sequence(),
                message.eventId());
    }

    static void givenUp(Handle handle, Message message, int attempts) {
        handle.execute("""
                UPDATE webhook_message SET state = 'FAILED', attempts = ?
                WHERE sequence = ? AND event_id = ? AND state = 'OPEN'
                """, attempts, message.sequence(), message.eventId());
    }

    static void giveUpAll(Handle handle, String webhookId) {
        handle.execute(
                "UPDATE webhook_message SET state = 'FAILED' WHERE webhook_id = ? AND state = 'OPEN'", webhookId);
    }

    /// The time of the first failure of the earliest open message before this one, of the same sandbox and webhook.
    static Optional<Instant> lineFailing(Handle handle, Message message) {
        return handle.createQuery("""
                        SELECT min(first_at) FROM webhook_message
                        WHERE webhook_id = :webhook AND sandbox_id = :sandbox AND state = 'OPEN'
                            AND sequence < :sequence AND first_at IS NOT NULL
                        """)
                .bind("webhook", message.webhookId())
                .bind("sandbox", message.sandboxId())
                .bind("sequence", message.sequence())
                .map((row, context) -> Optional.ofNullable(first(row)))
                .one();
    }

    private static @Nullable Instant first(ResultSet row) throws SQLException {
        long millis = row.getLong(1);
        return row.wasNull() ? null : Instant.ofEpochMilli(millis);
    }

    /// Reopens messages. A reopened delivered message holds back no other; failed ones are sent in their order again.
    ///
    /// @return the number of messages, also of those that are open anyway
    static int reopen(Handle handle, String webhookId, String eventId, Instant now) {
        return handle.execute("""
                UPDATE webhook_message SET next_at = ?, first_at = NULL, attempts = 0,
                    hold_until = CASE WHEN state = 'FAILED' THEN NULL WHEN state = 'DELIVERED' THEN 0 ELSE hold_until END,
                    state = 'OPEN'
                WHERE webhook_id = ? AND event_id = ?
                """, now.toEpochMilli(), webhookId, eventId);
    }

    /// @return how many were opened
    static int reopenFailed(Handle handle, String webhookId, Instant now) {
        return handle.execute("""
                UPDATE webhook_message SET next_at = ?, first_at = NULL, attempts = 0, hold_until = NULL, state = 'OPEN'
                WHERE webhook_id = ? AND state = 'FAILED'
                """, now.toEpochMilli(), webhookId);
    }

    static long count(Handle handle, String webhookId, Message.State state) {
        return handle.createQuery("SELECT count(*) FROM webhook_message WHERE webhook_id = :id AND state = :state")
                .bind("id", webhookId)
                .bind("state", state.name())
                .mapTo(Long.class)
                .one();
    }

    /// Deletes messages of deleted webhooks, and old ones that are not sent any more, with their attempts.
    static int deleteOld(Handle handle, Instant before, int most) {
        var old = handle.createQuery("""
                        SELECT * FROM webhook_message m
                        WHERE (created_at < :before
                                AND (state <> 'OPEN' OR webhook_id IN (SELECT id FROM webhook WHERE enabled = 0)))
                            OR webhook_id NOT IN (SELECT id FROM webhook)
                        LIMIT :most
                        """)
                .bind("before", before.toEpochMilli())
                .bind("most", most)
                .map((row, context) -> message(row))
                .list();
        for (var message : old) {
            handle.execute(
                    "DELETE FROM webhook_attempt WHERE webhook_id = ? AND event_id = ?",
                    message.webhookId(),
                    message.eventId());
            handle.execute("DELETE FROM webhook_message WHERE sequence = ?", message.sequence());
        }
        return old.size();
    }

    static Message message(ResultSet row) throws SQLException {
        return new Message(
                row.getLong("sequence"),
                row.getString("webhook_id"),
                row.getString("event_id"),
                row.getString("event_type"),
                row.getString("sandbox_id"),
                row.getString("body"),
                Message.State.valueOf(row.getString("state")),
                row.getInt("attempts"),
                Instant.ofEpochMilli(row.getLong("created_at")),
                WebhookStore.time(row, "first_at"));
    }
}
