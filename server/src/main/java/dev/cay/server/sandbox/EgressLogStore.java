package dev.cay.server.sandbox;

import dev.cay.server.store.JsonColumn;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.EgressSeen;
import java.time.Instant;
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
                "INSERT INTO egress_log (sandbox_id, seen, kept_at) VALUES (?, ?, ?) ON CONFLICT (sandbox_id) DO UPDATE SET seen = excluded.seen, kept_at = excluded.kept_at",
                id.value(),
                JsonColumn.write(seen),
                at.toEpochMilli());
    }

    static int deleteOlder(Handle handle, Instant before, int most) {
        return handle.execute(
                "DELETE FROM egress_log WHERE sandbox_id IN (SELECT sandbox_id FROM egress_log WHERE kept_at < ? LIMIT ?)",
                before.toEpochMilli(),
                most);
    }
}
