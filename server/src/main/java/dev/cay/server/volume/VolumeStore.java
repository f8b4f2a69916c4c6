package dev.cay.server.volume;

import dev.cay.wire.TeamId;
import dev.cay.wire.VolumeId;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/// The SQL of volumes, and of the sandboxes and snapshots that use them.
final class VolumeStore {
    private VolumeStore() {}

    static void insert(Handle handle, Volume volume) {
        handle.createUpdate("""
                        INSERT INTO volume (id, team_id, name, size_mb, state, created_at, key_id)
                        VALUES (:id, :team, :name, :size, :state, :created, :key) ON CONFLICT (id) DO NOTHING
                        """)
                .bind("id", volume.id().value())
                .bind("team", volume.teamId().value())
                .bind("name", volume.name())
                .bind("size", volume.sizeMB())
                .bind("state", volume.state().name())
                .bind("created", volume.createdAt().toEpochMilli())
                .bind("key", volume.keyFamily())
                .execute();
    }

    static void setState(Handle handle, VolumeId id, Volume.State state) {
        handle.execute("UPDATE volume SET state = ? WHERE id = ?", state.name(), id.value());
    }

    static int delete(Handle handle, VolumeId id) {
        return handle.execute("DELETE FROM volume WHERE id = ?", id.value());
    }

    static List<Volume> all(Handle handle) {
        return handle.createQuery("SELECT * FROM volume ORDER BY created_at, id")
                .map((row, context) -> volume(row))
                .list();
    }

    /// Locks the team's row: other transactions that mount or delete volumes of this team wait until this one ends.
    static void lockTeam(Handle handle, TeamId team) {
        handle.execute("UPDATE team SET slug = slug WHERE id = ?", team.value());
    }

    static boolean isReady(Handle handle, TeamId team, VolumeId id) {
        return handle.createQuery("SELECT state FROM volume WHERE id = :id AND team_id = :team")
                .bind("id", id.value())
                .bind("team", team.value())
                .mapTo(String.class)
                .findFirst()
                .filter(Volume.State.READY.name()::equals)
                .isPresent();
    }

    /// A sandbox or a snapshot that needs a volume.
    ///
    /// @param id    of the sandbox, or of the template that the snapshot is
    /// @param state of the sandbox; null for a snapshot
    /// @param name  what the snapshot is called; null where it has no name
    record User(String id, @Nullable String state, @Nullable String name) {}

    /// Sandboxes that live, and snapshots. The column is JSON that has ids in quotes.
    static List<User> users(Handle handle, TeamId team, VolumeId id) {
        String mounted = "%\"" + id.value() + "\"%";
        var users = new ArrayList<User>(handle.createQuery("""
                        SELECT id, state FROM sandbox WHERE team_id = :team AND volumes LIKE :mounted
                            AND state IN ('STARTING', 'RUNNING', 'PAUSING', 'PAUSED', 'RESUMING') ORDER BY id
                        """)
                .bind("team", team.value())
                .bind("mounted", mounted)
                .map((row, context) -> new User(row.getString("id"), row.getString("state"), null))
                .list());
        users.addAll(handle.createQuery("""
                        SELECT build.template_id AS id, MIN(template_alias.alias) AS name
                        FROM build LEFT JOIN template_alias ON template_alias.template_id = build.template_id
                        WHERE build.sandbox_id IS NOT NULL AND build.volumes LIKE :mounted
                        GROUP BY build.template_id ORDER BY build.template_id
                        """)
                .bind("mounted", mounted)
                .map((row, context) -> new User(row.getString("id"), null, row.getString("name")))
                .list());
        return users;
    }

    private static Volume volume(ResultSet row) throws SQLException {
        return new Volume(
                new VolumeId(row.getString("id")),
                new TeamId(row.getString("team_id")),
                row.getString("name"),
                row.getLong("size_mb"),
                Volume.State.valueOf(row.getString("state")),
                Instant.ofEpochMilli(row.getLong("created_at")),
                row.getString("key_id"));
    }
}
