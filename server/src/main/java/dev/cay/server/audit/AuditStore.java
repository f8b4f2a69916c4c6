package dev.cay.server.audit;

import dev.cay.server.audit.AuditChain.Link;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/// The SQL of the audit log.
final class AuditStore {
    private AuditStore() {}

    /// The end of the chain.
    record Head(long sequence, String hash) {}

    /// The newest part that was removed.
    record Removed(long lastSequence, long entries, String lastHash) {}

    /// A row with the columns it is searched by.
    record Row(
            Link link,
            long at,
            String action,
            String actor,
            @Nullable String team,
            @Nullable String sandbox) {}

    /// A filter for entries; null means any.
    ///
    /// @param action a whole one, or the first words of several
    /// @param before newest first, below this number
    /// @param after  oldest first, above this number; wins over `before`
    record Query(
            @Nullable String team,
            @Nullable String sandbox,
            @Nullable String actor,
            @Nullable String action,
            @Nullable Instant since,
            @Nullable Instant until,
            @Nullable Long before,
            @Nullable Long after,
            int limit) {}

    /// Adds entries to the end. The first statement locks the head, so that two servers never add to the same end.
    static Head append(Handle handle, List<AuditEntry> entries) throws SQLException {
        handle.execute(
                "INSERT INTO audit_head (id, sequence, hash) VALUES (1, 0, ?) ON CONFLICT DO NOTHING",
                AuditChain.BEGINNING);
        handle.execute("UPDATE audit_head SET sequence = sequence + ? WHERE id = 1", entries.size());
        var head = head(handle);
        long sequence = head.sequence() - entries.size();
        String hash = head.hash();
        try (var insert = handle.getConnection().prepareStatement("""
                INSERT INTO audit (sequence, id, at, action, actor, team_id, sandbox_id, body, hash)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                """)) {
            for (var entry : entries) {
                sequence++;
                String body = entry.body(sequence);
                hash = AuditChain.hash(hash, body);
                insert.setLong(1, sequence);
                insert.setString(2, entry.id());
                insert.setLong(3, entry.at().toEpochMilli());
                insert.setString(4, entry.action());
                insert.setString(5, entry.actor());
                insert.setString(6, entry.team());
                insert.setString(7, entry.sandbox());
                insert.setString(8, body);
                insert.setString(9, hash);
                insert.addBatch();
            }
            insert.executeBatch();
        }
        handle.execute("UPDATE audit_head SET hash = ? WHERE id = 1", hash);
        return new Head(sequence, hash);
    }

    static boolean exists(Handle handle, AuditEntry entry) {
        return handle.createQuery("SELECT count(*) FROM audit WHERE at = :at AND id = :id")
                        .bind("at", entry.at().toEpochMilli())
                        .bind("id", entry.id())
                        .mapTo(Long.class)
                        .one()
                > 0;
    }

    static Head head(Handle handle) {
        return handle.createQuery("SELECT sequence, hash FROM audit_head WHERE id = 1")
                .map((row, context) -> new Head(row.getLong("sequence"), row.getString("hash")))
                .findFirst()
                .orElse(new Head(0, AuditChain.BEGINNING));
    }

    static List<Link> list(Handle handle, Query query) {
        var conditions = new ArrayList<String>();
        var values = new HashMap<String, Object>();
        add(conditions, values, "team_id = :team", "team", query.team());
        add(conditions, values, "sandbox_id = :sandbox", "sandbox", query.sandbox());
        add(conditions, values, "actor = :actor", "actor", query.actor());
        add(conditions, values, "at >= :since", "since", millis(query.since()));
        add(conditions, values, "at < :until", "until", millis(query.until()));
        if (query.action() != null) {
            add(conditions, values, "(action = :action OR action LIKE :begin)", "action", query.action());
            values.put("begin", query.action() + ".%");
        }
        boolean ascending = query.after() != null;
        add(conditions, values, "sequence > :after", "after", query.after());
        add(conditions, values, "sequence < :before", "before", ascending ? null : query.before());
        return handle.createQuery("SELECT * FROM audit <where> ORDER BY sequence <order> LIMIT :limit")
                .define("where", conditions.isEmpty() ? "" : "WHERE " + String.join(" AND ", conditions))
                .define("order", ascending ? "ASC" : "DESC")
                .bindMap(values)
                .bind("limit", query.limit())
                .map((row, context) -> link(row))
                .list();
    }

    private static void add(
            List<String> conditions,
            Map<String, Object> values,
            String condition,
            String name,
            @Nullable Object value) {
        if (value != null) {
            conditions.add(condition);
            values.put(name, value);
        }
    }

    private static @Nullable Long millis(@Nullable Instant time) {
        return time == null ? null : time.toEpochMilli();
    }

    /// Oldest first.
    static List<Row> rows(Handle handle, long after, int limit) {
        return handle.createQuery("SELECT * FROM audit WHERE sequence > :after ORDER BY sequence LIMIT :limit")
                .bind("after", after)
                .bind("limit", limit)
                .map((row, context) -> row(row))
                .list();
    }

    /// The first entry behind the noted end of the chain; 0 if there is none, as it should be.
    static long surplus(Handle handle) {
        return handle.createQuery("""
                        SELECT coalesce(min(sequence), 0) FROM audit
                        WHERE sequence > coalesce((SELECT sequence FROM audit_head WHERE id = 1), 0)
                        """).mapTo(Long.class).one();
    }

    static Optional<Removed> removed(Handle handle) {
        return handle.createQuery("SELECT * FROM audit_removed ORDER BY last_sequence DESC LIMIT 1")
                .map((row, context) ->
                        new Removed(row.getLong("last_sequence"), row.getLong("entries"), row.getString("last_hash")))
                .findFirst();
    }

    /// Removes entries from the old end up to the first one that is younger, and keeps the hash of the last removed
    /// one. An entry in the chain says the same, so a forged beginning is detected.
    ///
    /// @return the number of removed entries
    static int removeOlder(Handle handle, Instant than, int most, Instant now) throws SQLException {
        var oldest = rows(handle, 0, most);
        int count = 0;
        while (count < oldest.size() && oldest.get(count).at() < than.toEpochMilli()) {
            count++;
        }
        if (count == 0) {
            return 0;
        }
        var last = oldest.get(count - 1).link();
        handle.execute("DELETE FROM audit WHERE sequence <= ?", last.sequence());
        handle.execute(
                "INSERT INTO audit_removed (last_sequence, entries, last_hash, removed_at) VALUES (?, ?, ?, ?)",
                last.sequence(),
                count,
                last.hash(),
                now.toEpochMilli());
        append(handle, List.of(removal(last, count, now)));
        return count;
    }

    private static AuditEntry removal(Link last, int count, Instant now) {
        var facts = Map.of(
                "result", "ok",
                "removedEntries", Integer.toString(count),
                "removedTo", Long.toString(last.sequence()),
                "removedHash", last.hash());
        return AuditEntry.ofDaemon(now, AuditVerification.REMOVAL, facts);
    }

    /// The newest action among these.
    static Optional<String> newest(Handle handle, List<String> actions) {
        return handle.createQuery("SELECT action FROM audit WHERE action IN (<actions>) ORDER BY sequence DESC LIMIT 1")
                .bindList("actions", actions)
                .mapTo(String.class)
                .findFirst();
    }

    static long exported(Handle handle, String target) {
        return handle.createQuery("SELECT sequence FROM audit_export WHERE target = :target")
                .bind("target", target)
                .mapTo(Long.class)
                .findFirst()
                .orElse(-1L);
    }

    static int noteExported(Handle handle, String target, long sequence) {
        return handle.execute("""
                INSERT INTO audit_export (target, sequence) VALUES (?, ?)
                ON CONFLICT (target) DO UPDATE SET sequence = excluded.sequence
                """, target, sequence);
    }

    private static Row row(ResultSet row) throws SQLException {
        return new Row(
                link(row),
                row.getLong("at"),
                row.getString("action"),
                row.getString("actor"),
                row.getString("team_id"),
                row.getString("sandbox_id"));
    }

    private static Link link(ResultSet row) throws SQLException {
        return new Link(row.getLong("sequence"), row.getString("body"), row.getString("hash"));
    }
}
