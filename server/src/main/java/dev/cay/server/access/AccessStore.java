package dev.cay.server.access;

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
                team.id(),
                team.name(),
                team.slug(),
                at.toEpochMilli());
    }

    static void insertKey(Handle handle, Team team, String name, ApiKey key, Instant at) {
        handle.execute(
                """
                INSERT INTO api_key (id, team_id, name, hash, mask_prefix, mask_suffix, created_at)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """,
                UUID.randomUUID().toString(),
                team.id(),
                name,
                key.hash(),
                key.maskPrefix(),
                key.maskSuffix(),
                at.toEpochMilli());
    }

    static Optional<Team> findOldestTeam(Handle handle) {
        return handle.createQuery("SELECT id, name, slug FROM team ORDER BY created_at, id LIMIT 1")
                .map((row, context) -> new Team(row.getString("id"), row.getString("name"), row.getString("slug")))
                .findFirst();
    }

    static Map<String, Team> teamsByKeyHash(Handle handle) {
        var teams = new HashMap<String, Team>();
        handle.createQuery("SELECT k.hash, t.id, t.name, t.slug FROM api_key k JOIN team t ON t.id = k.team_id")
                .map((row, context) -> Map.entry(
                        row.getString("hash"),
                        new Team(row.getString("id"), row.getString("name"), row.getString("slug"))))
                .forEach(entry -> teams.put(entry.getKey(), entry.getValue()));
        return teams;
    }
}
