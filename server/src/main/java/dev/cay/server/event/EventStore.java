package dev.cay.server.event;

import dev.cay.server.store.JsonColumn;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/// The SQL of events. {@link #insert} belongs in the transaction that makes the event true.
public final class EventStore {
    private EventStore() {}

    /// Which events are wanted.
    ///
    /// @param sandboxId null for those of all sandboxes
    /// @param types     empty for all
    public record Query(
            String teamId,
            @Nullable String sandboxId,
            List<LifecycleEvent.Type> types,
            boolean ascending,
            int offset,
            int limit) {
        public Query {
            types = List.copyOf(types);
        }
    }

    public static void insert(Handle handle, LifecycleEvent event) {
        handle.execute(
                """
                INSERT INTO event (id, type, team_id, sandbox_id, template_id, build_id, execution_id, data, happened_at)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
                event.id(),
                event.type().name(),
                event.teamId(),
                event.sandboxId(),
                event.templateId(),
                event.buildId(),
                event.executionId(),
                JsonColumn.write(event.data()),
                event.at().toEpochMilli());
    }

    public static List<LifecycleEvent> list(Handle handle, Query query) {
        var types = query.types().isEmpty() ? List.of(LifecycleEvent.Type.values()) : query.types();
        var select = handle.createQuery("""
                        SELECT * FROM event
                        WHERE team_id = :team AND (:sandbox IS NULL OR sandbox_id = :sandbox) AND type IN (<types>)
                        ORDER BY sequence <order> LIMIT :limit OFFSET :offset
                        """)
                .bind("team", query.teamId())
                .bind("sandbox", query.sandboxId())
                .bindList("types", types.stream().map(Enum::name).toList())
                .define("order", query.ascending() ? "ASC" : "DESC")
                .bind("limit", query.limit())
                .bind("offset", query.offset());
        return select.map((row, context) -> event(row)).list();
    }

    /// How many sandboxes came to life in this time, by team: made, resumed or forked.
    ///
    /// @param after not included
    public static Map<String, Long> countStarts(Handle handle, Instant after, Instant until) {
        return handle.createQuery("""
                        SELECT team_id, count(*) AS starts FROM event
                        WHERE happened_at > :after AND happened_at <= :until AND type IN ('CREATED', 'RESUMED')
                        GROUP BY team_id
                        """)
                .bind("after", after.toEpochMilli())
                .bind("until", until.toEpochMilli())
                .reduceRows(new HashMap<>(), (found, row) -> {
                    found.put(row.getColumn("team_id", String.class), row.getColumn("starts", Long.class));
                    return found;
                });
    }

    public static int deleteOlder(Handle handle, Instant than) {
        return handle.execute("DELETE FROM event WHERE happened_at < ?", than.toEpochMilli());
    }

    private static LifecycleEvent event(ResultSet row) throws SQLException {
        return new LifecycleEvent(
                row.getString("id"),
                LifecycleEvent.Type.valueOf(row.getString("type")),
                row.getString("team_id"),
                row.getString("sandbox_id"),
                row.getString("template_id"),
                row.getString("build_id"),
                row.getString("execution_id"),
                JsonColumn.readObject(row.getString("data")),
                Instant.ofEpochMilli(row.getLong("happened_at")));
    }
}
