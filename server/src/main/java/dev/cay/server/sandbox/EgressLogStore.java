package dev.cay.server.sandbox;

import dev.cay.server.store.JsonColumn;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.EgressSeen;
import java.time.Instant;
import java.util.List;
import org.jdbi.v3.core.Handle;

/// The SQL of egress logs.
final class EgressLogStore {
    private EgressLogStore() {}

    static EgressSeen find(Handle handle, SandboxId id) {
        return handle.createQuery("SELECT seen FROM egress_log WHERE sandbox_id = :id")
                .bind("id", id.value())
                .mapTo(String.class)
                .findFirst()
                .map(json -> JsonColumn.read(json, EgressSeen.class))
                .orElse(EgressSeen.NOTHING);
    }

    static int put(Handle handle, SandboxId id, EgressSeen seen, Instant at) {
        return handle.execute(
                """
                INSERT INTO egress_log (sandbox_id, seen, kept_at, entries, team_id)
                VALUES (?, ?, ?, ?, (SELECT team_id FROM sandbox WHERE id = ?))
                ON CONFLICT (sandbox_id) DO UPDATE SET seen = excluded.seen, kept_at = excluded.kept_at,
                    entries = excluded.entries, team_id = excluded.team_id
                """,
                id.value(),
                JsonColumn.write(seen),
                at.toEpochMilli(),
                seen.entries().size(),
                id.value());
    }

    /// Teams whose logs have more entries in all.
    static List<String> teamsWithMore(Handle handle, int most) {
        return handle.createQuery(
                        "SELECT team_id FROM egress_log WHERE team_id IS NOT NULL GROUP BY team_id HAVING SUM(entries) > :most")
                .bind("most", most)
                .mapTo(String.class)
                .list();
    }

    private record Log(String id, int entries) {}

    /// Deletes the logs of a team that were written first, until the others have so many entries at most.
    static int trim(Handle handle, String team, int most) {
        var logs = handle.createQuery(
                        "SELECT sandbox_id, entries FROM egress_log WHERE team_id = :team ORDER BY kept_at DESC, sandbox_id")
                .bind("team", team)
                .map((row, context) -> new Log(row.getString("sandbox_id"), row.getInt("entries")))
                .list();
        int kept = 0;
        int deleted = 0;
        for (var log : logs) {
            kept += log.entries();
            if (kept > most) {
                deleted += handle.execute("DELETE FROM egress_log WHERE sandbox_id = ?", log.id());
            }
        }
        return deleted;
    }

    static int deleteOlder(Handle handle, Instant before, int most) {
        return handle.execute(
                "DELETE FROM egress_log WHERE sandbox_id IN (SELECT sandbox_id FROM egress_log WHERE kept_at < ? LIMIT ?)",
                before.toEpochMilli(),
                most);
    }
}
