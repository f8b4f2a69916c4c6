package dev.cay.server.event;

import dev.cay.server.store.JsonColumn;
import dev.cay.wire.BuildId;
import dev.cay.wire.TeamId;
import dev.cay.wire.TemplateId;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
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
            TeamId teamId,
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
                event.teamId().value(),
                event.sandboxId(),
                event.templateId().value(),
                event.buildId().value(),
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
                .bind("team", query.teamId().value())
                .bind("sandbox", query.sandboxId())
                .bindList("types", types.stream().map(Enum::name).toList())
                .define("order", query.ascending() ? "ASC" : "DESC")
                .bind("limit", query.limit())
                .bind("offset", query.offset());
        return select.map((row, context) -> event(row)).list();
    }

    /// Events written after some other one, counted.
    ///
    /// @param <K>  what they are counted by
    /// @param last the newest of all, to go on from
    public record Counted<K>(long last, Map<K, Long> counts) {}

    /// How many sandboxes came to life since that event, by team: made, resumed or forked.
    public static Counted<TeamId> startsAfter(Handle handle, long sequence) {
        return count(handle, sequence, TeamId::new, """
                SELECT team_id AS what, count(*) AS events FROM event
                WHERE sequence > :from AND type IN ('CREATED', 'RESUMED') GROUP BY team_id
                """);
    }

    /// How many events of each type came since that one.
    static Counted<String> typesAfter(Handle handle, long sequence) {
        return count(
                handle,
                sequence,
                Function.identity(),
                "SELECT type AS what, count(*) AS events FROM event WHERE sequence > :from GROUP BY type");
    }

    public static long lastSequence(Handle handle) {
        return handle.createQuery("SELECT coalesce(max(sequence), 0) FROM event")
                .mapTo(Long.class)
                .one();
    }

    /// Numbers begin again at one when all events were old enough to be deleted.
    private static <K> Counted<K> count(Handle handle, long sequence, Function<String, K> key, String select) {
        long last = lastSequence(handle);
        var counts = new HashMap<K, Long>();
        handle.createQuery(select)
                .bind("from", last < sequence ? 0 : sequence)
                .map((row, context) -> counts.put(key.apply(row.getString("what")), row.getLong("events")))
                .forEach(_ -> {});
        return new Counted<>(last, counts);
    }

    public static int deleteOlder(Handle handle, Instant than) {
        return handle.execute("DELETE FROM event WHERE happened_at < ?", than.toEpochMilli());
    }

    private static LifecycleEvent event(ResultSet row) throws SQLException {
        return new LifecycleEvent(
                row.getString("id"),
                LifecycleEvent.Type.valueOf(row.getString("type")),
                new TeamId(row.getString("team_id")),
                row.getString("sandbox_id"),
                new TemplateId(row.getString("template_id")),
                new BuildId(row.getString("build_id")),
                row.getString("execution_id"),
                JsonColumn.readObject(row.getString("data")),
                Instant.ofEpochMilli(row.getLong("happened_at")));
    }
}
