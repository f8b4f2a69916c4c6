package dev.cay.server.event;

import dev.cay.http.Json;
import org.jdbi.v3.core.Handle;

/// Writes an event for every webhook that subscribes to it, in the transaction of the change. So a crash can neither
/// lose a message nor invent one. `dev.cay.server.webhook` delivers messages.
final class OutboxStore {
    private OutboxStore() {}

    /// Inserts the messages of an event; doing so twice has no effect. The body is stored as it is sent, but for the
    /// large fields: all attempts send the same bytes.
    ///
    /// Messages of a webhook for which too many wait already are given up at once; they can be sent when somebody
    /// asks for it. They are not counted here, because all other changes of the database wait for this transaction.
    static void insert(Handle handle, EventPartStore.Split split) {
        var event = split.event();
        handle.createUpdate("""
                        INSERT INTO webhook_message (webhook_id, event_id, event_type, sandbox_id, body, state,
                            attempts, created_at, next_at, given_up, given_up_at, parts)
                        SELECT id, :event, :type, :sandbox, :body,
                            CASE WHEN is_full = 1 THEN 'FAILED' ELSE 'OPEN' END, 0, :at, :at,
                            CASE WHEN is_full = 1 THEN 'FULL' END, CASE WHEN is_full = 1 THEN CAST(:at AS BIGINT) END,
                            CAST(:parts AS TEXT)
                        FROM webhook
                        WHERE team_id = :team AND enabled = 1 AND events LIKE :pattern
                        ON CONFLICT (webhook_id, event_id) DO NOTHING
                        """)
                .bind("event", event.id())
                .bind("type", event.type().text())
                .bind("sandbox", event.sandboxId())
                .bind("body", Json.text(EventJson.of(event)))
                .bind("parts", EventPartStore.column(split.parts()))
                .bind("at", event.at().toEpochMilli())
                .bind("team", event.teamId().value())
                .bind("pattern", "%\"" + event.type().text() + "\"%")
                .execute();
    }
}
