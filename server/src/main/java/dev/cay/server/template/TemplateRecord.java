package dev.cay.server.template;

import dev.cay.wire.BuildId;
import dev.cay.wire.TeamId;
import dev.cay.wire.TemplateId;
import dev.cay.wire.node.Resources;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// What a sandbox is made from.
///
/// @param aliases   bare names, without their namespace
/// @param names     full names: `namespace/alias`, or the alias alone where everybody may use it
/// @param layers    content keys, top first
/// @param buildId   changes with the content
/// @param snapshots all its builds, the newest last, if it was saved from a sandbox, whose rest is the newest's
public record TemplateRecord(
        TemplateId id,
        TeamId teamId,
        List<String> aliases,
        List<String> names,
        boolean isPublic,
        Resources resources,
        List<String> layers,
        String defaultUser,
        @Nullable String defaultWorkdir,
        BuildId buildId,
        Instant createdAt,
        Instant updatedAt,
        @Nullable Instant lastSpawnedAt,
        long spawnCount,
        int buildCount,
        List<SnapshotBuild> snapshots) {
    public TemplateRecord {
        aliases = List.copyOf(aliases);
        names = List.copyOf(names);
        layers = List.copyOf(layers);
        snapshots = List.copyOf(snapshots);
    }

    /// Whether there is something to start a sandbox from; one that comes with Cay is made after it is on record.
    public boolean isBuilt() {
        return isSnapshot() || !layers.isEmpty();
    }

    /// Whether it was saved from a sandbox.
    public boolean isSnapshot() {
        return !snapshots.isEmpty();
    }

    /// The build with this tag; without one the default, or the newest where nothing is called so.
    public Optional<SnapshotBuild> snapshot(@Nullable String tag) {
        String wanted = tag == null ? SnapshotBuild.DEFAULT_TAG : tag;
        var tagged =
                snapshots.stream().filter(build -> build.tag().equals(wanted)).findFirst();
        return tagged.or(() -> tag == null
                ? snapshots.stream().skip(Math.max(0, snapshots.size() - 1)).findFirst()
                : Optional.empty());
    }

    public Origin origin() {
        return new Origin(layers, defaultUser, defaultWorkdir);
    }

    /// Whether a sandbox made from the other one would be the same.
    boolean sameContent(TemplateRecord other) {
        return resources.equals(other.resources)
                && layers.equals(other.layers)
                && defaultUser.equals(other.defaultUser)
                && Objects.equals(defaultWorkdir, other.defaultWorkdir)
                && isPublic == other.isPublic;
    }

    /// With other builds of what was saved, the newest of them last.
    TemplateRecord saved(List<SnapshotBuild> builds, Instant at) {
        var newest = builds.getLast();
        return new TemplateRecord(
                id,
                teamId,
                aliases,
                names,
                isPublic,
                newest.resources(),
                newest.origin().layers(),
                newest.origin().defaultUser(),
                newest.origin().defaultWorkdir(),
                newest.buildId(),
                createdAt,
                at,
                lastSpawnedAt,
                spawnCount,
                buildCount + 1,
                builds);
    }

    TemplateRecord spawned(Instant at) {
        return new TemplateRecord(
                id,
                teamId,
                aliases,
                names,
                isPublic,
                resources,
                layers,
                defaultUser,
                defaultWorkdir,
                buildId,
                createdAt,
                updatedAt,
                at,
                spawnCount + 1,
                buildCount,
                snapshots);
    }
}
