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
import org.jdbi.v3.core.statement.SqlStatement;
import org.jspecify.annotations.Nullable;

/// The SQL of events. {@link #insert} belongs in the transaction of the change.
///
/// Numbers order events in lists. They are no cursor: on PostgreSQL a lower number can be committed after a higher one.
public final class EventStore {
    private EventStore() {}

    /// Events that one request looks at: others wait for the database meanwhile.
    private static final int MOST_LOOKED_AT = 100_000;

    /// A filter for events.
    ///
    /// @param sandboxId null for those of all sandboxes
    /// @param types     empty for all
    /// @param after     the number of the last one of the page before; null for the first page
    public record Query(
            TeamId teamId,
            @Nullable String sandboxId,
            List<LifecycleEvent.Type> types,
            boolean ascending,
            @Nullable Long after,
            int offset,
            int limit) {
        public Query {
            types = List.copyOf(types);
        }
    }

    /// Some events of a list.
    ///
    /// @param next the number after which the next page begins; null for the last page
    public record Page(
            List<LifecycleEvent> events, @Nullable Long next) {
        public Page {
            events = List.copyOf(events);
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

    /// A page of events. It may have fewer than its limit and yet a next one, as one request does not look at all.
    public static Page list(Handle handle, Query query) {
        var numbers = numbers(handle, query);
        boolean full = numbers.size() > query.limit();
        var found = full ? numbers.subList(0, query.limit()) : numbers;
        var next = full ? found.getLast() : lookedAt(handle, query);
        if (found.isEmpty()) {
            return new Page(List.of(), next);
        }
        var rows = handle.createQuery("SELECT * FROM event WHERE sequence IN (<numbers>) ORDER BY sequence <order>")
                .bindList("numbers", found)
                .define("order", order(query))
                .map((row, context) -> event(row))
                .list();
        return new Page(whole(handle, rows), next);
    }

    /// The numbers of the events of a page, and of the one after it. They are read from an index alone.
    private static List<Long> numbers(Handle handle, Query query) {
        var types = query.types().isEmpty() ? List.of(LifecycleEvent.Type.values()) : query.types();
        var select = handle.createQuery("""
                        SELECT sequence FROM (
                            SELECT sequence, type FROM event WHERE <range> ORDER BY sequence <order> LIMIT :most) looked
                        WHERE type IN (<types>) ORDER BY sequence <order> LIMIT :limit OFFSET :offset
                        """)
                .bindList("types", types.stream().map(Enum::name).toList())
                .bind("most", MOST_LOOKED_AT)
                .bind("limit", query.limit() + 1)
                .bind("offset", query.offset());
        return ranged(select, query).mapTo(Long.class).list();
    }

    /// The number of the last event that a request looks at; null if it looks at all.
    private static @Nullable Long lookedAt(Handle handle, Query query) {
        if (query.types().isEmpty()) {
            return null;
        }
        var select = handle.createQuery("""
                        SELECT sequence FROM event WHERE <range> ORDER BY sequence <order> LIMIT 1 OFFSET :before
                        """).bind("before", MOST_LOOKED_AT - 1);
        return ranged(select, query).mapTo(Long.class).findFirst().orElse(null);
    }

    private static <S extends SqlStatement<S>> S ranged(S select, Query query) {
        select.define("order", order(query))
                .define(
                        "range",
                        "team_id = :team"
                                + (query.sandboxId() == null ? "" : " AND sandbox_id = :sandbox")
                                + (query.after() == null
                                        ? ""
                                        : " AND sequence %s :after".formatted(query.ascending() ? ">" : "<")))
                .bind("team", query.teamId().value());
        if (query.sandboxId() != null) {
            select.bind("sandbox", query.sandboxId());
        }
        if (query.after() != null) {
            select.bind("after", query.after());
        }
        return select;
    }

    private static String order(Query query) {
        return query.ascending() ? "ASC" : "DESC";
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
