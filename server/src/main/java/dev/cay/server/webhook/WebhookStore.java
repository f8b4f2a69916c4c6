package dev.cay.server.webhook;

import dev.cay.server.store.JsonColumn;
import dev.cay.wire.TeamId;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/// The SQL of webhooks.
final class WebhookStore {
    private WebhookStore() {}

    /// Inserts a webhook; inserting it twice has no effect.
    static void insert(Handle handle, Webhook webhook) {
        handle.execute(
                """
                INSERT INTO webhook (id, team_id, name, url, events, secret, enabled, created_at)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (id) DO NOTHING
                """,
                webhook.id(),
                webhook.teamId().value(),
                webhook.name(),
                webhook.url(),
                JsonColumn.write(webhook.events()),
                webhook.sealedSecret(),
                webhook.enabled() ? 1 : 0,
                webhook.createdAt().toEpochMilli());
    }

    static List<Webhook> list(Handle handle, TeamId team) {
        return handle.createQuery("SELECT * FROM webhook WHERE team_id = :team ORDER BY created_at, id")
                .bind("team", team.value())
                .map((row, context) -> webhook(row))
                .list();
    }

    /// Finds a webhook of the team; empty for one of another team.
    static Optional<Webhook> find(Handle handle, TeamId team, String id) {
        return handle.createQuery("SELECT * FROM webhook WHERE id = :id AND team_id = :team")
                .bind("id", id)
                .bind("team", team.value())
                .map((row, context) -> webhook(row))
                .findFirst();
    }

    /// Writes the fields that users can change, and resets the failure state.
    static void update(Handle handle, Webhook webhook) {
        handle.execute(
                """
                UPDATE webhook SET name = ?, url = ?, events = ?, secret = ?, enabled = ?, failing_since = NULL,
                    disabled_at = CASE WHEN ? = 1 THEN NULL ELSE disabled_at END,
                    disabled_reason = CASE WHEN ? = 1 THEN NULL ELSE disabled_reason END
                WHERE id = ?
                """,
                webhook.name(),
                webhook.url(),
                JsonColumn.write(webhook.events()),
                webhook.sealedSecret(),
                webhook.enabled() ? 1 : 0,
                webhook.enabled() ? 1 : 0,
                webhook.enabled() ? 1 : 0,
                webhook.id());
    }

    static int delete(Handle handle, TeamId team, String id) {
        return handle.execute("DELETE FROM webhook WHERE id = ? AND team_id = ?", id, team.value());
    }

    /// The ids of webhooks with open messages: each step finds the next one in the index, however many messages it
    /// has.
    private static final String WITH_OPEN = """
            WITH RECURSIVE waiting (id) AS (
                SELECT min(webhook_id) FROM webhook_message WHERE state = 'OPEN'
                UNION ALL
                SELECT (SELECT min(webhook_id) FROM webhook_message WHERE state = 'OPEN' AND webhook_id > waiting.id)
                FROM waiting WHERE waiting.id IS NOT NULL)
            """;

    /// The webhooks with messages whose time has come. Some of these may still wait for others of their sandbox.
    static List<Webhook> withDueMessages(Handle handle, Instant now) {
        return handle.createQuery(WITH_OPEN + """
                        SELECT w.* FROM waiting JOIN webhook w ON w.id = waiting.id
                        WHERE w.enabled = 1
                            AND (EXISTS (SELECT 1 FROM webhook_message m
                                    WHERE m.webhook_id = w.id AND m.state = 'OPEN' AND m.next_at <= :now)
                                OR EXISTS (SELECT 1 FROM webhook_message m
                                    WHERE m.webhook_id = w.id AND m.state = 'OPEN' AND m.next_at > :far))
                        """)
                .bind("now", now.toEpochMilli())
                .bind("far", now.plus(RetrySchedule.FURTHEST).toEpochMilli())
                .map((row, context) -> webhook(row))
                .list();
    }

    /// Marks webhooks with so many open messages as full, and the others as not full.
    static int markFull(Handle handle, Set<String> full, Set<String> before) {
        full.stream()
                .filter(id -> !before.contains(id))
                .forEach(id -> handle.execute("UPDATE webhook SET is_full = 1 WHERE id = ?", id));
        before.stream()
                .filter(id -> !full.contains(id))
                .forEach(id -> handle.execute("UPDATE webhook SET is_full = 0 WHERE id = ?", id));
        return full.size();
    }

    static Set<String> full(Handle handle) {
        return Set.copyOf(handle.createQuery("SELECT id FROM webhook WHERE is_full = 1")
                .mapTo(String.class)
                .list());
    }

    static void noteSuccess(Handle handle, String id) {
        handle.execute("UPDATE webhook SET failing_since = NULL WHERE id = ? AND failing_since IS NOT NULL", id);
    }

    /// Records a failure, unless the webhook's address was changed meanwhile: the attempt then says nothing about
    /// the new one.
    ///
    /// @return since when all attempts fail
    static Instant noteFailure(Handle handle, Webhook webhook, Instant at) {
        handle.execute(
                "UPDATE webhook SET failing_since = ? WHERE id = ? AND url = ? AND failing_since IS NULL",
                at.toEpochMilli(),
                webhook.id(),
                webhook.url());
        return handle.createQuery("SELECT failing_since FROM webhook WHERE id = :id AND failing_since IS NOT NULL")
                .bind("id", webhook.id())
                .mapTo(Long.class)
                .findFirst()
                .map(Instant::ofEpochMilli)
                .orElse(at);
    }

    /// @return whether it is switched off since then
    static boolean disable(Handle handle, Webhook webhook, Instant at, String reason) {
        handle.execute("""
                UPDATE webhook SET enabled = 0, disabled_at = ?, disabled_reason = ?
                WHERE id = ? AND url = ? AND enabled = 1
                """, at.toEpochMilli(), reason, webhook.id(), webhook.url());
        return handle.createQuery("SELECT count(*) FROM webhook WHERE id = :id AND disabled_at = :at")
                        .bind("id", webhook.id())
                        .bind("at", at.toEpochMilli())
                        .mapTo(Long.class)
                        .one()
                > 0;
    }

    private static Webhook webhook(ResultSet row) throws SQLException {
        return new Webhook(
                row.getString("id"),
                new TeamId(row.getString("team_id")),
                row.getString("name"),
                row.getString("url"),
                JsonColumn.readList(row.getString("events")),
                row.getString("secret"),
                row.getInt("enabled") == 1,
                Instant.ofEpochMilli(row.getLong("created_at")),
                time(row, "failing_since"),
                time(row, "disabled_at"),
                row.getString("disabled_reason"));
    }

    static @Nullable Instant time(ResultSet row, String column) throws SQLException {
        long millis = row.getLong(column);
        return row.wasNull() ? null : Instant.ofEpochMilli(millis);
    }
}
