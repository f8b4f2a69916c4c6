package dev.cay.server.access;

import dev.cay.wire.TeamId;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/// The SQL of teams and keys.
final class AccessStore {
    private static final String KEYS = """
            SELECT k.id AS key_id, k.name AS key_name, k.hash, k.mask_prefix, k.mask_suffix, k.scope, k.created_at,
                   k.expires_at, k.last_used_at, k.person_id, k.sign_in_id, COALESCE(k.family, k.id) AS family,
                   t.id, t.name, t.slug
            FROM api_key k JOIN team t ON t.id = k.team_id
            WHERE t.deleted_at IS NULL
            """;

    private AccessStore() {}

    static void insertTeam(Handle handle, Team team, Instant at) {
        handle.execute(
                "INSERT INTO team (id, name, slug, created_at) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO NOTHING",
                team.id().value(),
                team.name(),
                team.slug(),
                at.toEpochMilli());
    }

    /// Locks a team: other transactions that lock it wait until this one ends.
    ///
    /// @return false if it was deleted
    static boolean lock(Handle handle, TeamId team) {
        return handle.execute("UPDATE team SET slug = slug WHERE id = ? AND deleted_at IS NULL", team.value()) == 1;
    }

    /// Counts what keeps a team from being deleted, including what is just being made.
    static long holdings(Handle handle, TeamId team) {
        return handle.createQuery("""
                        SELECT (SELECT COUNT(*) FROM sandbox WHERE team_id = :team AND state <> 'KILLED')
                            + (SELECT COUNT(*) FROM template WHERE team_id = :team)
                            + (SELECT COUNT(*) FROM volume WHERE team_id = :team)
                        """)
                .bind("team", team.value())
                .mapTo(Long.class)
                .one();
    }

    /// Its keys, members, secrets and webhooks go with it. What webhooks leave is removed later with all that is old.
    static void deleteTeam(Handle handle, Team team, Instant at) {
        handle.execute("DELETE FROM member WHERE team_id = ?", team.id().value());
        handle.execute("DELETE FROM api_key WHERE team_id = ?", team.id().value());
        handle.execute("DELETE FROM secret WHERE team_id = ?", team.id().value());
        handle.execute("DELETE FROM webhook WHERE team_id = ?", team.id().value());
        handle.execute(
                "UPDATE team SET deleted_at = ? WHERE id = ?",
                at.toEpochMilli(),
                team.id().value());
    }

    /// Whether another team has the slug.
    static boolean isSlugTaken(Handle handle, Team team) {
        return handle.createQuery("SELECT COUNT(*) FROM team WHERE slug = ? AND id <> ?")
                        .bind(0, team.slug())
                        .bind(1, team.id().value())
                        .mapTo(Integer.class)
                        .one()
                > 0;
    }

    static void insertKey(Handle handle, TeamKey key, String hash) {
        handle.execute(
                """
                INSERT INTO api_key (id, team_id, name, hash, mask_prefix, mask_suffix, scope, created_at, expires_at,
                                     person_id, sign_in_id, family)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (hash) DO NOTHING
                """,
                key.id(),
                key.team().id().value(),
                key.name(),
                hash,
                key.maskPrefix(),
                key.maskSuffix(),
                key.scope().toString(),
                key.createdAt().toEpochMilli(),
                millis(key.expiresAt()),
                key.person(),
                key.signIn(),
                key.family());
    }

    /// Gives a key the limits of another one, whose place it takes.
    static void takeLimits(Handle handle, TeamKey key, TeamKey from) {
        handle.execute(
                "UPDATE api_key SET limits = COALESCE(limits, (SELECT limits FROM api_key WHERE id = ?)) WHERE id = ?",
                from.id(),
                key.id());
    }

    static void updateKey(Handle handle, TeamKey key) {
        handle.execute(
                "UPDATE api_key SET name = ?, expires_at = ? WHERE id = ?",
                key.name(),
                millis(key.expiresAt()),
                key.id());
    }

    static void deleteKey(Handle handle, String id) {
        handle.execute("DELETE FROM api_key WHERE id = ?", id);
    }

    static void deleteMinted(Handle handle, String signIn) {
        handle.execute("DELETE FROM api_key WHERE sign_in_id = ?", signIn);
    }

    static void deleteMinted(Handle handle, String person, TeamId team) {
        handle.execute(
                "DELETE FROM api_key WHERE person_id = ? AND team_id = ? AND sign_in_id IS NOT NULL",
                person,
                team.value());
    }

    static void noteUse(Handle handle, String id, Instant at) {
        handle.execute("UPDATE api_key SET last_used_at = ? WHERE id = ?", at.toEpochMilli(), id);
    }

    static Optional<Team> findOldestTeam(Handle handle) {
        return handle.createQuery("SELECT id, name, slug FROM team ORDER BY created_at, id LIMIT 1")
                .map((row, context) -> team(row))
                .findFirst();
    }

    /// All teams, oldest first.
    static List<Team> teams(Handle handle) {
        return handle.createQuery("SELECT id, name, slug FROM team WHERE deleted_at IS NULL ORDER BY created_at, id")
                .map((row, context) -> team(row))
                .list();
    }

    static Map<String, TeamKey> keysByHash(Handle handle) {
        var keys = new HashMap<String, TeamKey>();
        handle.createQuery(KEYS)
                .map((row, context) -> Map.entry(row.getString("hash"), key(row)))
                .forEach(entry -> keys.put(entry.getKey(), entry.getValue()));
        return keys;
    }

    private static TeamKey key(ResultSet row) throws SQLException {
        return new TeamKey(
                row.getString("key_id"),
                team(row),
                row.getString("key_name"),
                KeyScope.parse(row.getString("scope")),
                row.getString("mask_prefix"),
                row.getString("mask_suffix"),
                Instant.ofEpochMilli(row.getLong("created_at")),
                instant(row, "expires_at"),
                instant(row, "last_used_at"),
                row.getString("person_id"),
                row.getString("sign_in_id"),
                row.getString("family"));
    }

    private static Team team(ResultSet row) throws SQLException {
        return new Team(new TeamId(row.getString("id")), row.getString("name"), row.getString("slug"));
    }

    private static @Nullable Instant instant(ResultSet row, String column) throws SQLException {
        long millis = row.getLong(column);
        return row.wasNull() ? null : Instant.ofEpochMilli(millis);
    }

    private static @Nullable Long millis(@Nullable Instant time) {
        return time == null ? null : time.toEpochMilli();
    }
}
