package dev.cay.server.template;

import dev.cay.server.store.JsonColumn;
import dev.cay.wire.BuildId;
import dev.cay.wire.TeamId;
import dev.cay.wire.TemplateId;
import dev.cay.wire.node.Resources;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/// The SQL of templates and their names.
final class TemplateStore {
    private TemplateStore() {}

    static void upsert(Handle handle, TemplateRecord template) {
        handle.createUpdate("""
                        INSERT INTO template (id, team_id, public, cpu_count, memory_mb, disk_size_mb, layers,
                            default_user, default_workdir, build_id, created_at, updated_at, spawn_count, build_count)
                        VALUES (:id, :team, :public, :cpu, :memory, :disk, :layers,
                            :user, :workdir, :build, :created, :updated, 0, :builds)
                        ON CONFLICT (id) DO UPDATE SET public = excluded.public, cpu_count = excluded.cpu_count,
                            memory_mb = excluded.memory_mb, disk_size_mb = excluded.disk_size_mb,
                            layers = excluded.layers, default_user = excluded.default_user,
                            default_workdir = excluded.default_workdir, build_id = excluded.build_id,
                            updated_at = excluded.updated_at, build_count = excluded.build_count
                        """)
                .bind("id", template.id().value())
                .bind("team", template.teamId().value())
                .bind("public", template.isPublic() ? 1 : 0)
                .bind("cpu", template.resources().cpuCount())
                .bind("memory", template.resources().memoryMB())
                .bind("disk", template.resources().diskSizeMB())
                .bind("layers", JsonColumn.write(template.layers()))
                .bind("user", template.defaultUser())
                .bind("workdir", template.defaultWorkdir())
                .bind("build", template.buildId().value())
                .bind("created", template.createdAt().toEpochMilli())
                .bind("updated", template.updatedAt().toEpochMilli())
                .bind("builds", template.buildCount())
                .execute();
    }

    static void insertAlias(Handle handle, String namespace, String alias, TemplateId templateId) {
        handle.execute(
                "INSERT INTO template_alias (namespace, alias, template_id) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                namespace,
                alias,
                templateId.value());
    }

    static void addSpawns(Handle handle, TemplateId templateId, long more, Instant last) {
        handle.execute(
                "UPDATE template SET spawn_count = spawn_count + ?, last_spawned_at = ? WHERE id = ?",
                more,
                last.toEpochMilli(),
                templateId.value());
    }

    static long spawns(Handle handle, TemplateId templateId) {
        return handle.createQuery("SELECT spawn_count FROM template WHERE id = :id")
                .bind("id", templateId.value())
                .mapTo(Long.class)
                .findFirst()
                .orElse(0L);
    }

    /// In place of the one with the same tag.
    static void putSnapshot(Handle handle, TemplateId templateId, SnapshotBuild build) {
        handle.execute("DELETE FROM snapshot WHERE template_id = ? AND tag = ?", templateId.value(), build.tag());
        handle.createUpdate("""
                        INSERT INTO snapshot (name, template_id, tag, build_id, sandbox_id, cpu_count, memory_mb,
                            disk_size_mb, origin, created_at)
                        VALUES (:name, :template, :tag, :build, :sandbox, :cpu, :memory, :disk, :origin, :created)
                        """)
                .bind("name", build.name())
                .bind("template", templateId.value())
                .bind("tag", build.tag())
                .bind("build", build.buildId().value())
                .bind("sandbox", build.sandboxId())
                .bind("cpu", build.resources().cpuCount())
                .bind("memory", build.resources().memoryMB())
                .bind("disk", build.resources().diskSizeMB())
                .bind("origin", JsonColumn.write(build.origin()))
                .bind("created", build.createdAt().toEpochMilli())
                .execute();
    }

    static int deleteSnapshot(Handle handle, String name) {
        return handle.execute("DELETE FROM snapshot WHERE name = ?", name);
    }

    static int delete(Handle handle, TemplateId templateId) {
        handle.execute("DELETE FROM snapshot WHERE template_id = ?", templateId.value());
        handle.execute("DELETE FROM template_alias WHERE template_id = ?", templateId.value());
        return handle.execute("DELETE FROM template WHERE id = ?", templateId.value());
    }

    static List<TemplateRecord> all(Handle handle) {
        Map<TemplateId, List<String>> aliases = new HashMap<>();
        Map<TemplateId, List<String>> names = new HashMap<>();
        handle.createQuery("SELECT namespace, alias, template_id FROM template_alias ORDER BY namespace, alias")
                .map((row, context) ->
                        List.of(row.getString("namespace"), row.getString("alias"), row.getString("template_id")))
                .forEach(row -> {
                    String full = row.get(0).isEmpty() ? row.get(1) : row.get(0) + "/" + row.get(1);
                    var template = new TemplateId(row.get(2));
                    aliases.computeIfAbsent(template, id -> new ArrayList<>()).add(row.get(1));
                    names.computeIfAbsent(template, id -> new ArrayList<>()).add(full);
                });
        Map<TemplateId, List<SnapshotBuild>> snapshots = new HashMap<>();
        handle.createQuery("SELECT * FROM snapshot ORDER BY created_at, name")
                .map((row, context) -> Map.entry(new TemplateId(row.getString("template_id")), snapshot(row)))
                .forEach(row -> snapshots
                        .computeIfAbsent(row.getKey(), id -> new ArrayList<>())
                        .add(row.getValue()));
        return handle.createQuery("SELECT * FROM template")
                .map((row, context) -> {
                    var id = new TemplateId(row.getString("id"));
                    return record(
                            row,
                            id,
                            aliases.getOrDefault(id, List.of()),
                            names.getOrDefault(id, List.of()),
                            snapshots.getOrDefault(id, List.of()));
                })
                .list();
    }

    private static SnapshotBuild snapshot(ResultSet row) throws SQLException {
        return new SnapshotBuild(
                row.getString("name"),
                row.getString("tag"),
                new BuildId(row.getString("build_id")),
                row.getString("sandbox_id"),
                new Resources(row.getInt("cpu_count"), row.getInt("memory_mb"), row.getInt("disk_size_mb")),
                JsonColumn.read(row.getString("origin"), Origin.class),
                Instant.ofEpochMilli(row.getLong("created_at")));
    }

    private static TemplateRecord record(
            ResultSet row, TemplateId id, List<String> aliases, List<String> names, List<SnapshotBuild> snapshots)
            throws SQLException {
        return new TemplateRecord(
                id,
                new TeamId(row.getString("team_id")),
                aliases,
                names,
                row.getInt("public") != 0,
                new Resources(row.getInt("cpu_count"), row.getInt("memory_mb"), row.getInt("disk_size_mb")),
                JsonColumn.readList(row.getString("layers")),
                row.getString("default_user"),
                row.getString("default_workdir"),
                new BuildId(row.getString("build_id")),
                Instant.ofEpochMilli(row.getLong("created_at")),
                Instant.ofEpochMilli(row.getLong("updated_at")),
                instantOrNull(row, "last_spawned_at"),
                row.getLong("spawn_count"),
                row.getInt("build_count"),
                snapshots);
    }

    private static @Nullable Instant instantOrNull(ResultSet row, String column) throws SQLException {
        long value = row.getLong(column);
        return row.wasNull() ? null : Instant.ofEpochMilli(value);
    }
}
