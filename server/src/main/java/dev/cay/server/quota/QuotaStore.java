package dev.cay.server.quota;

import dev.cay.server.store.JsonColumn;
import dev.cay.wire.TeamId;
import java.util.HashMap;
import java.util.Map;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/// The SQL of limits.
final class QuotaStore {
    private QuotaStore() {}

    static Map<TeamId, Limits> ofTeams(Handle handle) {
        var found = new HashMap<TeamId, Limits>();
        read(handle, "SELECT id, limits FROM team WHERE limits IS NOT NULL AND deleted_at IS NULL")
                .forEach((id, limits) -> found.put(new TeamId(id), limits));
        return found;
    }

    /// By families of keys.
    static Map<String, Limits> ofKeys(Handle handle) {
        return read(handle, "SELECT COALESCE(family, id) AS id, limits FROM api_key WHERE limits IS NOT NULL");
    }

    private static Map<String, Limits> read(Handle handle, String query) {
        var found = new HashMap<String, Limits>();
        handle.createQuery(query)
                .map((row, context) ->
                        Map.entry(row.getString("id"), JsonColumn.read(row.getString("limits"), Limits.class)))
                .forEach(entry -> found.put(entry.getKey(), entry.getValue()));
        return found;
    }

    static void setTeam(Handle handle, TeamId team, @Nullable Limits limits) {
        handle.execute("UPDATE team SET limits = ? WHERE id = ?", text(limits), team.value());
    }

    static void setKeys(Handle handle, String family, @Nullable Limits limits) {
        handle.execute("UPDATE api_key SET limits = ? WHERE COALESCE(family, id) = ?", text(limits), family);
    }

    private static @Nullable String text(@Nullable Limits limits) {
        return limits == null ? null : JsonColumn.write(limits);
    }
}
