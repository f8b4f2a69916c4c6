package dev.cay.server.template;

import dev.cay.server.store.JsonColumn;
import dev.cay.server.volume.MountedVolume;
import dev.cay.wire.BuildId;
import dev.cay.wire.TeamId;
import dev.cay.wire.TemplateId;
import dev.cay.wire.node.Resources;
import dev.cay.wire.node.StartCommand;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/// The SQL of templates, their names, builds and tags.
final class TemplateStore {
    private TemplateStore() {}

    /// Writes what differs between two states of a template.
    ///
    /// @param old null for a new one
    static void write(Handle handle, @Nullable TemplateRecord old, TemplateRecord fresh) {
        upsert(handle, fresh);
        var known = old == null ? List.<TemplateBuild>of() : old.builds();
        fresh.names().forEach(name -> insertAlias(handle, name, fresh.id()));
        known.stream()
                .filter(build -> fresh.build(build.id()).isEmpty())
                .forEach(build -> handle.execute(
                        "DELETE FROM build WHERE id = ?", build.id().value()));
        fresh.builds().stream()
                .filter(build -> !known.contains(build))
                .forEach(build -> upsert(handle, fresh.id(), build));
        if (old == null || !old.tags().equals(fresh.tags())) {
            handle.execute(
                    "DELETE FROM build_tag WHERE template_id = ?", fresh.id().value());
            fresh.tags().forEach(tag -> insertTag(handle, fresh.id(), tag));
        }
    }

    private static void upsert(Handle handle, TemplateRecord template) {
        handle.createUpdate("""
                        INSERT INTO template (id, team_id, public, created_at, updated_at, spawn_count, build_count)
                        VALUES (:id, :team, :public, :created, :updated, 0, :builds)
                        ON CONFLICT (id) DO UPDATE SET public = excluded.public, updated_at = excluded.updated_at,
                            build_count = excluded.build_count
                        """)
                .bind("id", template.id().value())
                .bind("team", template.teamId().value())
                .bind("public", template.isPublic() ? 1 : 0)
                .bind("created", template.createdAt().toEpochMilli())
                .bind("updated", template.updatedAt().toEpochMilli())
                .bind("builds", template.buildCount())
                .execute();
    }

    /// @param name with its namespace, or bare where every team may use it
    private static void insertAlias(Handle handle, String name, TemplateId templateId) {
        int slash = name.indexOf('/');
        handle.execute(
                "INSERT INTO template_alias (namespace, alias, template_id) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                slash < 0 ? "" : name.substring(0, slash),
                name.substring(slash + 1),
                templateId.value());
    }

    private static void upsert(Handle handle, TemplateId templateId, TemplateBuild build) {
        handle.createUpdate("""
                        INSERT INTO build (id, template_id, status, cpu_count, memory_mb, disk_size_mb, origin,
                            snapshot, sandbox_id, start, wanted_tags, failure, created_at, updated_at, finished_at, volumes,
                            key_id)
                        VALUES (:id, :template, :status, :cpu, :memory, :disk, :origin,
                            :snapshot, :sandbox, :start, :tags, :failure, :created, :updated, :finished, :volumes,
                            :key)
                        ON CONFLICT (id) DO UPDATE SET status = excluded.status, cpu_count = excluded.cpu_count,
                            memory_mb = excluded.memory_mb, disk_size_mb = excluded.disk_size_mb,
                            origin = excluded.origin, snapshot = excluded.snapshot, start = excluded.start,
                            failure = excluded.failure, updated_at = excluded.updated_at,
                            finished_at = excluded.finished_at
                        """)
                .bind("id", build.id().value())
                .bind("template", templateId.value())
                .bind("status", build.status().name())
                .bind("cpu", build.resources().cpuCount())
                .bind("memory", build.resources().memoryMB())
                .bind("disk", build.resources().diskSizeMB())
                .bind("origin", JsonColumn.write(build.origin()))
                .bind("snapshot", build.snapshot())
                .bind("sandbox", build.sandboxId())
                .bind("start", build.start() == null ? null : JsonColumn.write(build.start()))
                .bind("tags", JsonColumn.write(build.wantedTags()))
                .bind("volumes", MountedVolume.column(build.volumes()))
                .bind("key", build.keyFamily())
                .bind("failure", build.failure() == null ? null : JsonColumn.write(build.failure()))
                .bind("created", build.createdAt().toEpochMilli())
                .bind("updated", build.updatedAt().toEpochMilli())
                .bind(
                        "finished",
                        build.finishedAt() == null ? null : build.finishedAt().toEpochMilli())
                .execute();
    }

    private static void insertTag(Handle handle, TemplateId templateId, BuildTag tag) {
        handle.execute(
                "INSERT INTO build_tag (template_id, tag, build_id, assigned_at) VALUES (?, ?, ?, ?)",
                templateId.value(),
                tag.tag(),
                tag.buildId().value(),
                tag.assignedAt().toEpochMilli());
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

    static int delete(Handle handle, TemplateId templateId) {
        for (String table : List.of("build_tag", "build", "template_alias")) {
            handle.execute("DELETE FROM " + table + " WHERE template_id = ?", templateId.value());
        }
        return handle.execute("DELETE FROM template WHERE id = ?", templateId.value());
    }

    static List<TemplateRecord> all(Handle handle) {
        Map<TemplateId, List<String>> names = new HashMap<>();
        handle.createQuery("SELECT namespace, alias, template_id FROM template_alias ORDER BY namespace, alias")
                .map((row, context) -> {
                    String namespace = row.getString("namespace");
                    String alias = row.getString("alias");
                    return Map.entry(templateId(row), namespace.isEmpty() ? alias : namespace + "/" + alias);
                })
                .forEach(row -> add(names, row));
        Map<TemplateId, List<TemplateBuild>> builds = new HashMap<>();
        handle.createQuery("SELECT * FROM build ORDER BY created_at, id")
                .map((row, context) -> Map.entry(templateId(row), build(row)))
                .forEach(row -> add(builds, row));
        Map<TemplateId, List<BuildTag>> tags = new HashMap<>();
        handle.createQuery("SELECT * FROM build_tag ORDER BY assigned_at, tag")
                .map((row, context) -> Map.entry(
                        templateId(row),
                        new BuildTag(
                                row.getString("tag"),
                                new BuildId(row.getString("build_id")),
                                Instant.ofEpochMilli(row.getLong("assigned_at")))))
                .forEach(row -> add(tags, row));
        return handle.createQuery("SELECT * FROM template")
                .map((row, context) -> {
                    var id = new TemplateId(row.getString("id"));
                    return record(
                            row,
                            id,
                            names.getOrDefault(id, List.of()),
                            builds.getOrDefault(id, List.of()),
                            tags.getOrDefault(id, List.of()));
                })
                .list();
    }

    private static TemplateId templateId(ResultSet row) throws SQLException {
        return new TemplateId(row.getString("template_id"));
    }

    private static <T> void add(Map<TemplateId, List<T>> lists, Map.Entry<TemplateId, T> row) {
        lists.computeIfAbsent(row.getKey(), _ -> new ArrayList<>()).add(row.getValue());
    }

    private static TemplateBuild build(ResultSet row) throws SQLException {
        return new TemplateBuild(
                new BuildId(row.getString("id")),
                BuildStatus.valueOf(row.getString("status")),
                new Resources(row.getInt("cpu_count"), row.getInt("memory_mb"), row.getInt("disk_size_mb")),
                JsonColumn.read(row.getString("origin"), Origin.class),
                row.getString("snapshot"),
                row.getString("sandbox_id"),
                jsonOrNull(row, "start", StartCommand.class),
                JsonColumn.readList(row.getString("wanted_tags")),
                jsonOrNull(row, "failure", BuildFailure.class),
                Instant.ofEpochMilli(row.getLong("created_at")),
                Instant.ofEpochMilli(row.getLong("updated_at")),
                instantOrNull(row, "finished_at"),
                MountedVolume.inColumn(row.getString("volumes")),
                row.getString("key_id"));
    }

    private static TemplateRecord record(
            ResultSet row, TemplateId id, List<String> names, List<TemplateBuild> builds, List<BuildTag> tags)
            throws SQLException {
        return new TemplateRecord(
                id,
                new TeamId(row.getString("team_id")),
                names.stream().map(TemplateRecord::bare).toList(),
                names,
                row.getInt("public") != 0,
                Instant.ofEpochMilli(row.getLong("created_at")),
                Instant.ofEpochMilli(row.getLong("updated_at")),
                instantOrNull(row, "last_spawned_at"),
                row.getLong("spawn_count"),
                row.getInt("build_count"),
                builds,
                tags);
    }

    private static @Nullable Instant instantOrNull(ResultSet row, String column) throws SQLException {
        long value = row.getLong(column);
        return row.wasNull() ? null : Instant.ofEpochMilli(value);
    }

    private static <T> @Nullable T jsonOrNull(ResultSet row, String column, Class<T> type) throws SQLException {
        String json = row.getString(column);
        return json == null ? null : JsonColumn.read(json, type);
    }
}
