package dev.cay.server.secret;

import dev.cay.server.store.JsonColumn;
import dev.cay.wire.TeamId;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jdbi.v3.core.Handle;

/// The SQL of secrets.
final class SecretStore {
    private SecretStore() {}

    /// @return false if the team has one of this name
    static boolean insert(Handle handle, TeamSecret secret) {
        return handle.execute(
                        """
                        INSERT INTO secret
                            (id, team_id, name, version, metadata, sealed, sealed_with, created_at, updated_at)
                        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                        ON CONFLICT (team_id, name) DO NOTHING
                        """,
                        secret.id(),
                        secret.team().value(),
                        secret.name(),
                        secret.version(),
                        JsonColumn.write(secret.metadata()),
                        secret.sealed(),
                        secret.sealedWith(),
                        secret.createdAt().toEpochMilli(),
                        secret.updatedAt().toEpochMilli())
                == 1;
    }

    static List<TeamSecret> list(Handle handle, TeamId team) {
        return handle.createQuery("SELECT * FROM secret WHERE team_id = :team")
                .bind("team", team.value())
                .map((row, context) -> secret(row))
                .list();
    }

    static long count(Handle handle, TeamId team) {
        return handle.createQuery("SELECT count(*) FROM secret WHERE team_id = :team")
                .bind("team", team.value())
                .mapTo(Long.class)
                .one();
    }

    /// Finds a secret of the team; empty for one of another team.
    static Optional<TeamSecret> find(Handle handle, TeamId team, String idOrName) {
        return handle.createQuery("SELECT * FROM secret WHERE team_id = :team AND (id = :text OR name = :text)")
                .bind("team", team.value())
                .bind("text", idOrName)
                .map((row, context) -> secret(row))
                .findFirst();
    }

    /// Writes a new value, or the same one sealed with another key.
    ///
    /// @return false if it was changed or deleted since it was read
    static boolean update(Handle handle, TeamSecret before, TeamSecret after) {
        return handle.execute(
                        """
                        UPDATE secret SET version = ?, metadata = ?, sealed = ?, sealed_with = ?, updated_at = ?
                        WHERE id = ? AND version = ? AND sealed = ?
                        """,
                        after.version(),
                        JsonColumn.write(after.metadata()),
                        after.sealed(),
                        after.sealedWith(),
                        after.updatedAt().toEpochMilli(),
                        before.id(),
                        before.version(),
                        before.sealed())
                == 1;
    }

    static int delete(Handle handle, String id) {
        return handle.execute("DELETE FROM secret WHERE id = ?", id);
    }

    /// Some of the secrets that are sealed with another key, after an id.
    static List<TeamSecret> sealedWithOther(Handle handle, String key, String after, int most) {
        return handle.createQuery(
                        "SELECT * FROM secret WHERE sealed_with <> :key AND id > :after ORDER BY id LIMIT :most")
                .bind("key", key)
                .bind("after", after)
                .bind("most", most)
                .map((row, context) -> secret(row))
                .list();
    }

    private static TeamSecret secret(ResultSet row) throws SQLException {
        return new TeamSecret(
                row.getString("id"),
                new TeamId(row.getString("team_id")),
                row.getString("name"),
                row.getInt("version"),
                JsonColumn.readMap(row.getString("metadata")),
                row.getString("sealed"),
                row.getString("sealed_with"),
                Instant.ofEpochMilli(row.getLong("created_at")),
                Instant.ofEpochMilli(row.getLong("updated_at")));
    }
}
