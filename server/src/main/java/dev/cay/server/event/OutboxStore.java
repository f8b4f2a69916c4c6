package dev.cay.server.event;

import dev.cay.http.Json;
import org.jdbi.v3.core.Handle;

/// Writes an event for every webhook that subscribes to it, in the transaction of the change. So a crash can neither
/// lose a message nor invent one. `dev.cay.server.webhook` delivers messages.
final class OutboxStore {
    /// Messages of a webhook that wait to be sent. Beyond that they are given up at once, and can be sent when somebody
    /// asks for it, so that a receiver that is away does not fill the database.
    private static final int MOST_OPEN = 10_000;

    private OutboxStore() {}

    /// Inserts the messages of an event; doing so twice has no effect. The body is stored as it is sent: all attempts
    /// send the same bytes.
    static void insert(Handle handle, LifecycleEvent event) {
        handle.createUpdate("""
                        INSERT INTO webhook_message (webhook_id, event_id, event_type, sandbox_id, body, state,
                            attempts, created_at, next_at)
                        SELECT id, :event, :type, :sandbox, :body,
                            CASE WHEN (SELECT COUNT(*) FROM webhook_message m
                                    WHERE m.webhook_id = webhook.id AND m.state = 'OPEN') >= :most
                                THEN 'FAILED' ELSE 'OPEN' END,
                            0, :at, :at
                        FROM webhook
                        WHERE team_id = :team AND enabled = 1 AND events LIKE :pattern
                        ON CONFLICT (webhook_id, event_id) DO NOTHING
                        """)
                .bind("event", event.id())
                .bind("type", event.type().text())
                .bind("sandbox", event.sandboxId())
                .bind("body", Json.text(EventJson.of(event)))
                .bind("at", event.at().toEpochMilli())
                .bind("team", event.teamId().value())
                .bind("most", MOST_OPEN)
                .bind("pattern", "%\"" + event.type().text() + "\"%")
                .execute();
    }
}
