package dev.cay.server.event;

import dev.cay.server.store.JsonColumn;
import dev.cay.wire.BuildId;
import dev.cay.wire.TeamId;
import dev.cay.wire.TemplateId;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.stream.Collectors;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/// The SQL of events. {@link #insert} belongs in the transaction of the change.
///
/// Numbers order events in lists. They are no cursor: on PostgreSQL a lower number can be committed after a higher one.
public final class EventStore {
    private EventStore() {}

    /// A filter for events.
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

    /// Writing the same event twice does no harm. Webhooks that want it get it from here too.
    public static void insert(Handle handle, LifecycleEvent whole) {
        var split = EventPartStore.split(handle, whole);
        var event = split.event();
        handle.execute(
                """
                INSERT INTO event (id, type, team_id, sandbox_id, template_id, build_id, execution_id, data, happened_at,
                    parts)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (id) DO NOTHING
                """,
                event.id(),
                event.type().name(),
                event.teamId().value(),
                event.sandboxId(),
                event.templateId().value(),
                event.buildId().value(),
                event.executionId(),
                JsonColumn.write(event.data()),
                event.at().toEpochMilli(),
                EventPartStore.column(split.parts()));
        OutboxStore.insert(handle, split);
    }

    public static List<LifecycleEvent> list(Handle handle, Query query) {
        var types = query.types().isEmpty() ? List.of(LifecycleEvent.Type.values()) : query.types();
        var select = handle.createQuery("""
                        SELECT * FROM event
                        WHERE team_id = :team <sandbox> AND type IN (<types>)
                        ORDER BY sequence <order> LIMIT :limit OFFSET :offset
                        """)
                .bind("team", query.teamId().value())
                .define("sandbox", query.sandboxId() == null ? "" : "AND sandbox_id = :sandbox")
                .bindList("types", types.stream().map(Enum::name).toList())
                .define("order", query.ascending() ? "ASC" : "DESC")
                .bind("limit", query.limit())
                .bind("offset", query.offset());
        if (query.sandboxId() != null) {
            select.bind("sandbox", query.sandboxId());
        }
        return whole(handle, select.map((row, context) -> event(row)).list());
    }

    /// Puts the large fields in.
    private static List<LifecycleEvent> whole(Handle handle, List<EventPartStore.Split> found) {
        var parts = found.stream().flatMap(split -> split.parts().stream()).collect(Collectors.toSet());
        var contents = EventPartStore.read(handle, parts);
        return found.stream()
                .map(split ->
                        split.event().withData(EventPartStore.join(split.event().data(), split.parts(), contents)))
                .toList();
    }

    public static boolean exists(Handle handle, String id) {
        return handle.createQuery("SELECT count(*) FROM event WHERE id = :id")
                        .bind("id", id)
                        .mapTo(Long.class)
                        .one()
                > 0;
    }

    /// The oldest of them, not more than so many: a transaction that deletes all of a large database holds up others.
    public static int deleteOlder(Handle handle, Instant than, int most) {
        return handle.execute(
                "DELETE FROM event WHERE sequence IN"
                        + " (SELECT sequence FROM event WHERE happened_at < ? ORDER BY happened_at LIMIT ?)",
                than.toEpochMilli(),
                most);
    }

    private static EventPartStore.Split event(ResultSet row) throws SQLException {
        var event = new LifecycleEvent(
                row.getString("id"),
                LifecycleEvent.Type.valueOf(row.getString("type")),
                new TeamId(row.getString("team_id")),
                row.getString("sandbox_id"),
                new TemplateId(row.getString("template_id")),
                new BuildId(row.getString("build_id")),
                row.getString("execution_id"),
                JsonColumn.readObject(row.getString("data")),
                Instant.ofEpochMilli(row.getLong("happened_at")));
        return new EventPartStore.Split(event, EventPartStore.parts(row.getString("parts")));
    }
}
