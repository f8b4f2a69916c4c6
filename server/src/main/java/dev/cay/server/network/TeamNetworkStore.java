package dev.cay.server.network;

import dev.cay.server.store.JsonColumn;
import dev.cay.wire.TeamId;
import java.util.HashMap;
import java.util.Map;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/// The SQL of teams' defaults.
final class TeamNetworkStore {
    private TeamNetworkStore() {}

    static Map<TeamId, EgressChoice> all(Handle handle) {
        var found = new HashMap<TeamId, EgressChoice>();
        handle.createQuery("SELECT id, network FROM team WHERE network IS NOT NULL AND deleted_at IS NULL")
                .map((row, context) -> Map.entry(
                        new TeamId(row.getString("id")), JsonColumn.read(row.getString("network"), EgressChoice.class)))
                .forEach(entry -> found.put(entry.getKey(), entry.getValue()));
        return found;
    }

    static int set(Handle handle, TeamId team, @Nullable EgressChoice choice) {
        return handle.execute(
                "UPDATE team SET network = ? WHERE id = ?",
                choice == null ? null : JsonColumn.write(choice),
                team.value());
    }
}
