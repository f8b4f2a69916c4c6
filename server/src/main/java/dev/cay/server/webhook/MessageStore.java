package dev.cay.server.webhook;

import dev.cay.server.event.EventPartStore;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/// The SQL of messages: which are to be sent next, and what became of them.
///
/// The messages of one sandbox for one webhook are a line. A message can be sent when all open ones before it in its
/// line were tried and their hold has ended. Redelivered messages hold back none, and those that are sent for the
/// first time go before them.
final class MessageStore {
    private MessageStore() {}

    private static final String IS_DUE = """
            state = 'OPEN' AND (next_at <= :now OR next_at > :far)
            AND NOT EXISTS (SELECT 1 FROM webhook_message e
                WHERE e.webhook_id = m.webhook_id AND e.sandbox_id = m.sandbox_id AND e.state = 'OPEN'
                    AND e.sequence < m.sequence
                    AND (e.hold_until IS NULL OR (e.hold_until > :now AND e.hold_until <= :far)))
            """;

    /// The first one of each line that can be sent now, the most overdue first. One of a line only, because its
    /// messages are sent one after the other: a line in which many wait must not keep the others out.
    static List<Message> due(Handle handle, String webhookId, Instant now, int most) {
        return handle.createQuery("""
                        SELECT m.* FROM webhook_message m WHERE m.sequence IN (
                            SELECT (SELECT d.sequence FROM webhook_message d
                                WHERE d.webhook_id = :webhook AND d.sandbox_id = line.sandbox_id AND d.state = 'OPEN'
                                    AND (d.next_at <= :now OR d.next_at > :far)
                                    AND d.sequence <= COALESCE((SELECT b.sequence FROM webhook_message b
                                        WHERE b.webhook_id = :webhook AND b.sandbox_id = line.sandbox_id
                                            AND b.state = 'OPEN' AND (b.hold_until IS NULL
                                                OR (b.hold_until > :now AND b.hold_until <= :far))
                                        ORDER BY b.sequence LIMIT 1), d.sequence)
                                ORDER BY d.redelivered, d.sequence LIMIT 1)
                            FROM (SELECT DISTINCT sandbox_id FROM webhook_message
                                WHERE webhook_id = :webhook AND state = 'OPEN') line)
                        ORDER BY m.next_at, m.sequence LIMIT :most
                        """)
                .bind("webhook", webhookId)
                .bind("now", now.toEpochMilli())
                .bind("far", now.plus(RetrySchedule.FURTHEST).toEpochMilli())
                .bind("most", most)
                .map((row, context) -> message(row))
                .list();
    }

    /// A message with the body that is sent.
    static Message whole(Handle handle, Message message) {
        return message.withBody(EventPartStore.body(handle, message.body(), message.parts()));
    }

    /// The present state of a message with the body that is sent, if it can still be sent now.
    static Optional<Message> ifDue(Handle handle, Message message, Instant now) {
        return handle.createQuery(
                        "SELECT * FROM webhook_message m WHERE sequence = :sequence AND event_id = :event AND "
                                + IS_DUE)
                .bind("sequence", message.sequence())
                .bind("event", message.eventId())
                .bind("now", now.toEpochMilli())
                .bind("far", now.plus(RetrySchedule.FURTHEST).toEpochMilli())
                .map((row, context) -> message(row))
                .findOne()
                .map(found -> whole(handle, found));
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

    static void giveUpAll(Handle handle, String webhookId, Instant now) {
        handle.execute("""
                UPDATE webhook_message SET state = 'FAILED', given_up = ?, given_up_at = ?
                WHERE webhook_id = ? AND state = 'OPEN'
                """, Message.Reason.SWITCHED_OFF.name(), now.toEpochMilli(), webhookId);
    }

    /// The time of the first failure of the earliest open message before this one, of the same sandbox and webhook.
    static Optional<Instant> lineFailing(Handle handle, Message message) {
        return handle.createQuery("""
                        SELECT min(first_at) FROM webhook_message
                        WHERE webhook_id = :webhook AND sandbox_id = :sandbox AND state = 'OPEN'
                            AND sequence < :sequence AND first_at IS NOT NULL AND redelivered = 0
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

    /// Reopens a message. One that is open anyway is due at once, and keeps its retries and its hold.
    ///
    /// @return the number of messages, also of those that are open anyway
    static int reopen(Handle handle, String webhookId, String eventId, Instant now) {
        return handle.execute("""
                        UPDATE webhook_message SET next_at = ? WHERE webhook_id = ? AND event_id = ? AND state = 'OPEN'
                        """, now.toEpochMilli(), webhookId, eventId)
                + handle.execute(REOPEN + """
                        WHERE webhook_id = ? AND event_id = ? AND state <> 'OPEN'
                        """, now.toEpochMilli(), webhookId, eventId);
    }

    private static final String REOPEN = """
            UPDATE webhook_message SET next_at = ?, first_at = NULL, attempts = 0, hold_until = 0, redelivered = 1,
                given_up = NULL, given_up_at = NULL, state = 'OPEN'
            """;

    /// Reopens the oldest of those that were given up.
    static int reopenFailed(Handle handle, String webhookId, Instant now, int most) {
        return handle.execute(REOPEN + """
                WHERE sequence IN (SELECT sequence FROM webhook_message WHERE webhook_id = ? AND state = 'FAILED'
                    ORDER BY sequence LIMIT ?)
                """, now.toEpochMilli(), webhookId, most);
    }

    static int count(Handle handle, String webhookId, Message.State state) {
        return handle.createQuery("SELECT count(*) FROM webhook_message WHERE webhook_id = :id AND state = :state")
                .bind("id", webhookId)
                .bind("state", state.name())
                .mapTo(Integer.class)
                .one();
    }

    static boolean anyOpen(Handle handle) {
        return handle.createQuery("SELECT 1 FROM webhook_message WHERE state = 'OPEN' LIMIT 1")
                .mapTo(Integer.class)
                .findFirst()
                .isPresent();
    }

    /// The webhooks of which so many messages wait.
    static Set<String> full(Handle handle, int most) {
        return Set.copyOf(
                handle.createQuery("""
                        SELECT webhook_id FROM webhook_message WHERE state = 'OPEN'
                        GROUP BY webhook_id HAVING count(*) >= :most
                        """).bind("most", most).mapTo(String.class).list());
    }

    /// A message by what its attempts and itself are found by.
    record Key(long sequence, String webhookId, String eventId) {}

    /// Messages of deleted webhooks, and old ones that are not sent any more. Looking for them may take long, so it
    /// is no part of a transaction that writes.
    static List<Key> old(Handle handle, Instant before, int most) {
        return handle.createQuery("""
                        SELECT sequence, webhook_id, event_id FROM webhook_message
                        WHERE created_at < :before
                            AND (state <> 'OPEN' OR webhook_id NOT IN (SELECT id FROM webhook WHERE enabled = 1))
                        ORDER BY created_at LIMIT :most
                        """)
                .bind("before", before.toEpochMilli())
                .bind("most", most)
                .map((row, context) -> key(row))
                .list();
    }

    private static final String WITH_MESSAGES = """
            WITH RECURSIVE known (id) AS (
                SELECT min(webhook_id) FROM webhook_message
                UNION ALL
                SELECT (SELECT min(webhook_id) FROM webhook_message WHERE webhook_id > known.id)
                FROM known WHERE known.id IS NOT NULL)
            SELECT id FROM known WHERE id IS NOT NULL
            """;

    /// Webhooks that have messages, also those that were deleted.
    static List<String> webhooks(Handle handle) {
        return handle.createQuery(WITH_MESSAGES).mapTo(String.class).list();
    }

    /// Webhooks that were deleted and have messages still.
    static List<String> deletedWebhooks(Handle handle) {
        return handle.createQuery(WITH_MESSAGES + " AND id NOT IN (SELECT id FROM webhook)")
                .mapTo(String.class)
                .list();
    }

    /// Messages of a webhook that are not sent any more, beyond the newest so many.
    static List<Key> beyond(Handle handle, String webhookId, int kept, int most) {
        return handle.createQuery("""
                        SELECT sequence, webhook_id, event_id FROM webhook_message
                        WHERE webhook_id = :webhook AND state <> 'OPEN' AND sequence <= (
                            SELECT sequence FROM webhook_message WHERE webhook_id = :webhook
                            ORDER BY sequence DESC LIMIT 1 OFFSET :kept)
                        ORDER BY sequence LIMIT :most
                        """)
                .bind("webhook", webhookId)
                .bind("kept", kept)
                .bind("most", most)
                .map((row, context) -> key(row))
                .list();
    }

    static List<Key> ofWebhook(Handle handle, String webhookId, int most) {
        return handle.createQuery("""
                        SELECT sequence, webhook_id, event_id FROM webhook_message WHERE webhook_id = :webhook
                        ORDER BY sequence LIMIT :most
                        """)
                .bind("webhook", webhookId)
                .bind("most", most)
                .map((row, context) -> key(row))
                .list();
    }

    /// Deletes messages with their attempts, but for those that were opened again meanwhile.
    static int delete(Handle handle, List<Key> keys) {
        for (var key : keys) {
            int gone = handle.execute("""
                    DELETE FROM webhook_message WHERE sequence = ? AND event_id = ?
                        AND (state <> 'OPEN' OR webhook_id NOT IN (SELECT id FROM webhook WHERE enabled = 1))
                    """, key.sequence(), key.eventId());
            if (gone > 0) {
                handle.execute(
                        "DELETE FROM webhook_attempt WHERE webhook_id = ? AND event_id = ?",
                        key.webhookId(),
                        key.eventId());
            }
        }
        return keys.size();
    }

    private static Key key(ResultSet row) throws SQLException {
        return new Key(row.getLong("sequence"), row.getString("webhook_id"), row.getString("event_id"));
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
                WebhookStore.time(row, "first_at"),
                row.getInt("redelivered") == 1,
                givenUp(row),
                EventPartStore.parts(row.getString("parts")));
    }

    private static Message.@Nullable GivenUp givenUp(ResultSet row) throws SQLException {
        String reason = row.getString("given_up");
        return reason == null || !row.getString("state").equals(Message.State.FAILED.name())
                ? null
                : new Message.GivenUp(Message.Reason.valueOf(reason), Instant.ofEpochMilli(row.getLong("given_up_at")));
    }
}
