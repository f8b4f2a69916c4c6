package dev.cay.server.webhook;

import dev.cay.server.event.LifecycleEvent;
import dev.cay.server.store.JsonColumn;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/// The SQL of attempts, which users read to find out why something did not arrive.
final class AttemptStore {
    /// Attempts of one message that are listed.
    private static final int LISTED = 20;

    /// Messages that one request looks at.
    private static final int MOST_LOOKED_AT = 5000;

    /// Attempts that statistics count at most: a receiver that fails for days may have millions.
    static final int MOST_COUNTED = 100_000;

    private static final List<String> EVERY_TYPE = Arrays.stream(LifecycleEvent.Type.values())
            .map(LifecycleEvent.Type::text)
            .toList();

    private AttemptStore() {}

    /// A filter for messages.
    ///
    /// @param after    the sequence of the last one of the page before; null for the first page
    /// @param statuses `success` and `failed`, by the last attempt; empty for both
    /// @param types    of events; empty for all
    record Query(
            String webhookId,
            @Nullable Long after,
            boolean ascending,
            Instant start,
            Instant end,
            List<String> statuses,
            List<String> types,
            int limit) {
        Query {
            statuses = List.copyOf(statuses);
            types = List.copyOf(types);
        }
    }

    /// The attempts of a stretch of time.
    record Bucket(Instant start, long total, long failed, double minimum, double average, double maximum) {}

    /// Inserts an attempt; inserting it twice has no effect.
    static void insert(Handle handle, Attempt attempt) {
        var error = attempt.error();
        var responseHeaders = attempt.responseHeaders();
        handle.execute(
                """
                INSERT INTO webhook_attempt (id, webhook_id, event_id, started_at, duration_ms, url, request_headers,
                    status, response_headers, response_body, error_class, error_message)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (id) DO NOTHING
                """,
                attempt.id(),
                attempt.webhookId(),
                attempt.eventId(),
                attempt.startedAt().toEpochMilli(),
                attempt.duration().toMillis(),
                attempt.url(),
                JsonColumn.write(attempt.headers()),
                attempt.status(),
                responseHeaders == null ? null : JsonColumn.write(responseHeaders),
                attempt.responseBody(),
                error == null ? null : error.name(),
                attempt.message());
    }

    /// Deletes answers of earlier attempts: a receiver that fails for a day gives the same answer many times, so only
    /// the last one is kept whole.
    static void forgetAnswersBefore(Handle handle, Attempt last) {
        handle.execute("""
                UPDATE webhook_attempt SET response_headers = NULL, response_body = NULL
                WHERE webhook_id = ? AND event_id = ? AND id <> ?
                """, last.webhookId(), last.eventId(), last.id());
    }

    /// A stretch of messages in their order.
    ///
    /// @param found those of them that the query asks for, from the first on
    /// @param end   the sequence of the last one that was looked at; null where nothing comes after it
    record Stretch(List<Message> found, @Nullable Long end) {
        Stretch {
            found = List.copyOf(found);
        }
    }

    /// Messages that were tried, or given up before. Looks at so many and no more, because others wait for the database
    /// meanwhile.
    static Stretch messages(Handle handle, Query query) {
        Long end = end(handle, query);
        String last = """
                CASE WHEN m.state = 'FAILED' AND m.given_up IS NOT NULL THEN 'failed' ELSE
                    (SELECT CASE WHEN a.error_class IS NULL THEN 'success' ELSE 'failed' END FROM webhook_attempt a
                    WHERE a.webhook_id = m.webhook_id AND a.event_id = m.event_id
                    ORDER BY a.started_at DESC, a.id DESC LIMIT 1) END
                """;
        var statuses = query.statuses().isEmpty() ? List.of("success", "failed") : query.statuses();
        var types = query.types().isEmpty() ? EVERY_TYPE : query.types();
        var select = handle.createQuery("""
                        SELECT * FROM webhook_message m
                        WHERE webhook_id = :webhook AND created_at >= :start AND created_at < :end
                            AND <last> IN (<statuses>) AND event_type IN (<types>) <after> <until>
                        ORDER BY sequence <order> LIMIT :limit
                        """)
                .define("last", last)
                .bindList("statuses", statuses)
                .bindList("types", types)
                .define("after", query.after() == null ? "" : "AND sequence %s :after".formatted(than(query)))
                .define("until", end == null ? "" : "AND sequence %s= :until".formatted(query.ascending() ? "<" : ">"))
                .define("order", query.ascending() ? "ASC" : "DESC")
                .bind("webhook", query.webhookId())
                .bind("start", query.start().toEpochMilli())
                .bind("end", query.end().toEpochMilli())
                .bind("limit", query.limit());
        if (query.after() != null) {
            select.bind("after", query.after());
        }
        if (end != null) {
            select.bind("until", end);
        }
        return new Stretch(
                select.map((row, context) -> MessageStore.message(row)).list(), end);
    }

    /// Where the stretch ends; null if it has all the rest.
    private static @Nullable Long end(Handle handle, Query query) {
        var select = handle.createQuery("""
                        SELECT sequence FROM webhook_message WHERE webhook_id = :webhook <after>
                        ORDER BY sequence <order> LIMIT 1 OFFSET :most
                        """)
                .define("after", query.after() == null ? "" : "AND sequence %s :after".formatted(than(query)))
                .define("order", query.ascending() ? "ASC" : "DESC")
                .bind("webhook", query.webhookId())
                .bind("most", MOST_LOOKED_AT);
        if (query.after() != null) {
            select.bind("after", query.after());
        }
        return select.mapTo(Long.class).findFirst().orElse(null);
    }

    private static String than(Query query) {
        return query.ascending() ? ">" : "<";
    }

    /// The last ones of a message, in their order. The reason why it was given up comes last, like an attempt that was
    /// not made.
    static List<Attempt> of(Handle handle, Webhook webhook, Message message) {
        var all = new ArrayList<>(made(handle, message));
        var end = message.givenUp();
        if (end != null) {
            all.add(Attempt.notMade(webhook, message, end));
        }
        return all;
    }

    private static List<Attempt> made(Handle handle, Message message) {
        return handle.createQuery("""
                        SELECT * FROM webhook_attempt WHERE webhook_id = :webhook AND event_id = :event
                        ORDER BY started_at DESC, id DESC LIMIT :most
                        """)
                .bind("webhook", message.webhookId())
                .bind("event", message.eventId())
                .bind("most", LISTED)
                .map((row, context) -> attempt(row))
                .list()
                .reversed();
    }

    /// The query for {@link #buckets}. The inner one reads an index alone, from its end, and stops at its limit.
    static final String BUCKETS = """
            SELECT started_at / :width AS bucket, count(*) AS total, count(error_class) AS failed,
                min(duration_ms) AS minimum, avg(duration_ms) AS average, max(duration_ms) AS maximum
            FROM (SELECT started_at, duration_ms, error_class FROM webhook_attempt
                WHERE webhook_id = :webhook AND started_at >= :start AND started_at < :end
                ORDER BY started_at DESC LIMIT :most) newest
            GROUP BY bucket ORDER BY bucket
            """;

    /// Counts the newest attempts in buckets of equal length; empty buckets are left out.
    static List<Bucket> buckets(Handle handle, String webhookId, Instant start, Instant end, Duration width) {
        return handle.createQuery(BUCKETS)
                .bind("most", MOST_COUNTED)
                .bind("width", width.toMillis())
                .bind("webhook", webhookId)
                .bind("start", start.toEpochMilli())
                .bind("end", end.toEpochMilli())
                .map((row, context) -> new Bucket(
                        Instant.ofEpochMilli(row.getLong("bucket") * width.toMillis()),
                        row.getLong("total"),
                        row.getLong("failed"),
                        row.getDouble("minimum"),
                        row.getDouble("average"),
                        row.getDouble("maximum")))
                .list();
    }

    private static Attempt attempt(ResultSet row) throws SQLException {
        int status = row.getInt("status");
        Integer answered = row.wasNull() ? null : Integer.valueOf(status);
        String headers = row.getString("response_headers");
        String error = row.getString("error_class");
        return new Attempt(
                row.getString("id"),
                row.getString("webhook_id"),
                row.getString("event_id"),
                Instant.ofEpochMilli(row.getLong("started_at")),
                Duration.ofMillis(row.getLong("duration_ms")),
                row.getString("url"),
                JsonColumn.readMap(row.getString("request_headers")),
                answered,
                headers == null ? null : JsonColumn.readMap(headers),
                row.getString("response_body"),
                error == null ? null : Attempt.ErrorClass.valueOf(error),
                row.getString("error_message"));
    }
}
