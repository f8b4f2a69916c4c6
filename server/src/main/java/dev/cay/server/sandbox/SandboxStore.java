package dev.cay.server.sandbox;

import dev.cay.server.network.SandboxNetwork;
import dev.cay.server.quota.Use;
import dev.cay.server.store.JsonColumn;
import dev.cay.server.template.Origin;
import dev.cay.server.volume.MountedVolume;
import dev.cay.wire.BuildId;
import dev.cay.wire.SandboxId;
import dev.cay.wire.TeamId;
import dev.cay.wire.TemplateId;
import dev.cay.wire.node.Resources;
import dev.cay.wire.node.Saved;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/// The SQL of sandboxes. A record changes only by {@link #replace}, which compares before it sets.
final class SandboxStore {
    /// All states but KILLED. Killed sandboxes are many; naming the others lets the index find them.
    private static final String LIVING = "('STARTING', 'RUNNING', 'PAUSING', 'PAUSED', 'RESUMING')";

    /// What the column `saved` has of a frozen sandbox that could not be saved. Texts in it have their quotation marks
    /// escaped.
    private static final String UNSAVABLE = "%\"frozen\":{\"reason\":\"%";

    private SandboxStore() {}

    /// A repeatable create: the client's key, and a hash of its request.
    record Request(String key, String hash) {}

    /// The sandbox an earlier create with the same key made.
    record Earlier(SandboxRecord sandbox, String hash) {}

    static void insert(Handle handle, SandboxRecord sandbox, @Nullable Request request) {
        handle.createUpdate("""
                        INSERT INTO sandbox (id, team_id, template_id, build_id, alias, execution_id, state, version,
                            secure, cpu_count, memory_mb, disk_size_mb, metadata, network, lifecycle, origin, started_at,
                            end_at, volumes, key_id, idempotency_key, request_hash)
                        VALUES (:id, :team, :template, :build, :alias, :execution, :state, :version,
                            :secure, :cpu, :memory, :disk, :metadata, :network, :lifecycle, :origin, :started,
                            :end, :volumes, :createdWith, :key, :hash)
                        """)
                .bind("id", sandbox.id().value())
                .bind("team", sandbox.teamId().value())
                .bind("template", sandbox.templateId().value())
                .bind("build", sandbox.buildId().value())
                .bind("alias", sandbox.alias())
                .bind("execution", sandbox.executionId())
                .bind("state", sandbox.state().name())
                .bind("version", sandbox.version())
                .bind("secure", sandbox.secure() ? 1 : 0)
                .bind("cpu", sandbox.resources().cpuCount())
                .bind("memory", sandbox.resources().memoryMB())
                .bind("disk", sandbox.resources().diskSizeMB())
                .bind("metadata", JsonColumn.write(sandbox.metadata()))
                .bind("network", JsonColumn.write(sandbox.network()))
                .bind("lifecycle", JsonColumn.write(sandbox.lifecycle()))
                .bind("origin", sandbox.origin() == null ? null : JsonColumn.write(sandbox.origin()))
                .bind("started", sandbox.startedAt().toEpochMilli())
                .bind("end", sandbox.endAt().toEpochMilli())
                .bind("volumes", MountedVolume.column(sandbox.volumes()))
                .bind("createdWith", sandbox.keyFamily())
                .bind("key", request == null ? null : request.key())
                .bind("hash", request == null ? null : request.hash())
                .execute();
    }

    /// Replaces a record; false when it was changed meanwhile.
    static boolean replace(Handle handle, SandboxRecord old, SandboxRecord fresh) {
        int changed = handle.createUpdate("""
                        UPDATE sandbox SET state = :state, version = :version, execution_id = :execution,
                            network = :network, lifecycle = :lifecycle, saved = :saved, token_version = :tokens,
                            started_at = :started, end_at = :end
                        WHERE id = :id AND state = :oldState AND version = :oldVersion
                        """)
                .bind("state", fresh.state().name())
                .bind("version", fresh.version())
                .bind("execution", fresh.executionId())
                .bind("tokens", fresh.tokenVersion())
                .bind("network", JsonColumn.write(fresh.network()))
                .bind("lifecycle", JsonColumn.write(fresh.lifecycle()))
                .bind("saved", fresh.saved() == null ? null : JsonColumn.write(fresh.saved()))
                .bind("started", fresh.startedAt().toEpochMilli())
                .bind("end", fresh.endAt().toEpochMilli())
                .bind("id", old.id().value())
                .bind("oldState", old.state().name())
                .bind("oldVersion", old.version())
                .execute();
        return changed == 1;
    }

    /// Moves the times of all that live, because the clock they were read from was set.
    static void move(Handle handle, Duration by) {
        handle.execute(
                "UPDATE sandbox SET started_at = started_at + ?, end_at = end_at + ?, version = version + 1"
                        + " WHERE state IN " + LIVING,
                by.toMillis(),
                by.toMillis());
    }

    static void noteKilled(Handle handle, SandboxId id, Instant at) {
        handle.execute("UPDATE sandbox SET killed_at = ? WHERE id = ?", at.toEpochMilli(), id.value());
    }

    static Optional<SandboxRecord> find(Handle handle, SandboxId id) {
        return handle.createQuery("SELECT * FROM sandbox WHERE id = :id")
                .bind("id", id.value())
                .map((row, context) -> record(row))
                .findFirst();
    }

    static Optional<Earlier> findByKey(Handle handle, TeamId teamId, String key) {
        return handle.createQuery("SELECT * FROM sandbox WHERE team_id = :team AND idempotency_key = :key")
                .bind("team", teamId.value())
                .bind("key", key)
                .map((row, context) -> new Earlier(record(row), row.getString("request_hash")))
                .findFirst();
    }

    static List<SandboxRecord> notKilled(Handle handle) {
        return handle.createQuery("SELECT * FROM sandbox WHERE state IN " + LIVING)
                .map((row, context) -> record(row))
                .list();
    }

    /// Locks the team's row: other transactions that count this team's sandboxes wait until this one ends.
    static void lockTeam(Handle handle, TeamId team) {
        handle.execute("UPDATE team SET slug = slug WHERE id = ?", team.value());
    }

    /// The resources of a team's sandboxes that run, start, or are being paused, and of those that stay in memory
    /// because they could not be saved.
    static Use useOfTeam(Handle handle, TeamId team) {
        return use(handle, "team_id", team.value(), "");
    }

    /// @param but one that does not count
    static Use useOfTeam(Handle handle, TeamId team, SandboxId but) {
        return use(handle, "team_id", team.value(), but.value());
    }

    /// The same for sandboxes that were created with keys of one family.
    static Use useOfKey(Handle handle, String key) {
        return use(handle, "key_id", key, "");
    }

    /// @param but one that does not count
    static Use useOfKey(Handle handle, String key, SandboxId but) {
        return use(handle, "key_id", key, but.value());
    }

    private static Use use(Handle handle, String column, String owner, String but) {
        return handle.createQuery("""
                        SELECT COUNT(*) AS sandboxes, COALESCE(SUM(cpu_count), 0) AS vcpus,
                            COALESCE(SUM(memory_mb), 0) AS memory
                        FROM sandbox WHERE %s = :owner AND id <> :but
                            AND (state IN ('STARTING', 'RUNNING', 'PAUSING', 'RESUMING')
                                OR (state = 'PAUSED' AND saved LIKE :unsavable))
                        """.formatted(column))
                .bind("owner", owner)
                .bind("but", but)
                .bind("unsavable", UNSAVABLE)
                .map((row, context) -> new Use(row.getInt("sandboxes"), row.getInt("vcpus"), row.getLong("memory")))
                .one();
    }

    /// The living sandboxes that were created with keys of this family.
    static List<SandboxId> createdWith(Handle handle, String key) {
        return handle.createQuery("SELECT id FROM sandbox WHERE key_id = :key AND state IN " + LIVING)
                .bind("key", key)
                .map((row, context) -> new SandboxId(row.getString("id")))
                .list();
    }

    /// Deletes a record. Only for a sandbox that no client knows.
    static int delete(Handle handle, SandboxId id) {
        return handle.execute("DELETE FROM sandbox WHERE id = ?", id.value());
    }

    /// The oldest of them, not more than so many.
    static int deleteKilledBefore(Handle handle, Instant time, int most) {
        return handle.execute(
                "DELETE FROM sandbox WHERE id IN (SELECT id FROM sandbox"
                        + " WHERE state = 'KILLED' AND killed_at < ? ORDER BY killed_at LIMIT ?)",
                time.toEpochMilli(),
                most);
    }

    private static SandboxRecord record(ResultSet row) throws SQLException {
        return new SandboxRecord(
                new SandboxId(row.getString("id")),
                new TeamId(row.getString("team_id")),
                new TemplateId(row.getString("template_id")),
                new BuildId(row.getString("build_id")),
                row.getString("alias"),
                jsonOrNull(row, "origin", Origin.class),
                row.getString("execution_id"),
                SandboxState.valueOf(row.getString("state")),
                row.getLong("version"),
                row.getInt("secure") != 0,
                row.getInt("token_version"),
                new Resources(row.getInt("cpu_count"), row.getInt("memory_mb"), row.getInt("disk_size_mb")),
                JsonColumn.readMap(row.getString("metadata")),
                JsonColumn.read(row.getString("network"), SandboxNetwork.class),
                Objects.requireNonNullElse(jsonOrNull(row, "lifecycle", Lifecycle.class), Lifecycle.KILL),
                Instant.ofEpochMilli(row.getLong("started_at")),
                Instant.ofEpochMilli(row.getLong("end_at")),
                jsonOrNull(row, "saved", Saved.class),
                MountedVolume.inColumn(row.getString("volumes")),
                row.getString("key_id"));
    }

    private static <T> @Nullable T jsonOrNull(ResultSet row, String column, Class<T> type) throws SQLException {
        String json = row.getString(column);
        return json == null ? null : JsonColumn.read(json, type);
    }
}
