package dev.cay.server.access;

import dev.cay.wire.TeamId;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.jdbi.v3.core.Handle;

/// The SQL of teams and keys.
final class AccessStore {
    private AccessStore() {}

    static void insertTeam(Handle handle, Team team, Instant at) {
        handle.execute(
                "INSERT INTO team (id, name, slug, created_at) VALUES (?, ?, ?, ?)",
                team.id().value(),
                team.name(),
                team.slug(),
                at.toEpochMilli());
    }

    static void insertKey(Handle handle, Team team, String name, ApiKey key, Instant at) {
        handle.execute(
                """
                INSERT INTO api_key (id, team_id, name, hash, mask_prefix, mask_suffix, created_at)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (hash) DO NOTHING
                """,
                UUID.randomUUID().toString(),
                team.id().value(),
                name,
                key.hash(),
                key.maskPrefix(),
                key.maskSuffix(),
                at.toEpochMilli());
    }

    static Optional<Team> findOldestTeam(Handle handle) {
        return handle.createQuery("SELECT id, name, slug FROM team ORDER BY created_at, id LIMIT 1")
                .map((row, context) -> team(row))
                .findFirst();
    }

    static Map<String, Team> teamsByKeyHash(Handle handle) {
        var teams = new HashMap<String, Team>();
        handle.createQuery("SELECT k.hash, t.id, t.name, t.slug FROM api_key k JOIN team t ON t.id = k.team_id")
                .map((row, context) -> Map.entry(row.getString("hash"), team(row)))
                .forEach(entry -> teams.put(entry.getKey(), entry.getValue()));
        return teams;
    }

    private static Team team(ResultSet row) throws SQLException {
        return new Team(new TeamId(row.getString("id")), row.getString("name"), row.getString("slug"));
    }
}
