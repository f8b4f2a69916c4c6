package dev.cay.server.template;

import dev.cay.wire.BuildId;
import dev.cay.wire.TeamId;
import dev.cay.wire.TemplateId;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/// A template: its names, builds, and tags that point at builds.
///
/// @param aliases    bare names, without their namespace
/// @param names      full names: `namespace/alias`, or the alias alone where every team may use it
/// @param buildCount how many builds there have been, also deleted ones
/// @param builds     the newest last
public record TemplateRecord(
        TemplateId id,
        TeamId teamId,
        List<String> aliases,
        List<String> names,
        boolean isPublic,
        Instant createdAt,
        Instant updatedAt,
        @Nullable Instant lastSpawnedAt,
        long spawnCount,
        int buildCount,
        List<TemplateBuild> builds,
        List<BuildTag> tags) {
    /// Most untagged builds that are kept for their logs, although no sandbox can be made of them.
    private static final int MOST_UNTAGGED = 20;

    public TemplateRecord {
        aliases = List.copyOf(aliases);
        names = List.copyOf(names);
        builds = List.copyOf(builds);
        tags = List.copyOf(tags);
    }

    /// A new one, with nothing to start from.
    static TemplateRecord empty(TemplateId id, TeamId teamId, List<String> names, boolean isPublic, Instant at) {
        return new TemplateRecord(
                id,
                teamId,
                names.stream().map(TemplateRecord::bare).toList(),
                names,
                isPublic,
                at,
                at,
                null,
                0,
                0,
                List.of(),
                List.of());
    }

    /// A name without its namespace.
    static String bare(String name) {
        return name.substring(name.indexOf('/') + 1);
    }

    /// Whether it was saved from a sandbox.
    public boolean isSnapshot() {
        return builds.stream().anyMatch(TemplateBuild::isSnapshot);
    }

    public Optional<TemplateBuild> build(BuildId wanted) {
        return builds.stream().filter(build -> build.id().equals(wanted)).findFirst();
    }

    /// The build with this tag. Without a tag the default; for a snapshot without one, the newest.
    public Optional<TemplateBuild> tagged(@Nullable String tag) {
        String wanted = tag == null ? BuildTag.DEFAULT : tag;
        var found = tags.stream()
                .filter(one -> one.tag().equals(wanted))
                .findFirst()
                .flatMap(one -> build(one.buildId()));
        return found.or(() -> tag == null && isSnapshot() ? newest() : Optional.empty());
    }

    /// The build that a list shows: the one that the bare name means, or the newest.
    public Optional<TemplateBuild> current() {
        return tagged(null).or(this::newest);
    }

    private Optional<TemplateBuild> newest() {
        return builds.isEmpty() ? Optional.empty() : Optional.of(builds.getLast());
    }

    /// Builds that no tag points at.
    public List<TemplateBuild> untagged() {
        return builds.stream().filter(build -> tagsOf(build).isEmpty()).toList();
    }

    public List<String> tagsOf(TemplateBuild build) {
        return tags.stream()
                .filter(tag -> tag.buildId().equals(build.id()))
                .map(BuildTag::tag)
                .toList();
    }

    /// A copy without unreachable parts: snapshots of untagged builds, and the oldest untagged builds.
    public TemplateRecord pruned() {
        var superfluous = untagged().stream()
                .filter(build -> build.status().isOver() && !build.isSnapshot())
                .toList();
        var fresh = without(superfluous.stream()
                .limit(Math.max(0, superfluous.size() - MOST_UNTAGGED))
                .map(TemplateBuild::id)
                .toList());
        for (var build : superfluous) {
            if (build.snapshot() != null) {
                fresh = fresh.with(build.id(), TemplateBuild::withoutSnapshot);
            }
        }
        return fresh;
    }

    /// A copy with one more build.
    public TemplateRecord with(TemplateBuild build) {
        var all = new ArrayList<>(builds);
        all.add(build);
        return changed(build.createdAt(), buildCount + 1, all, tags);
    }

    /// A copy with one build changed. A deleted build stays deleted.
    public TemplateRecord with(BuildId which, UnaryOperator<TemplateBuild> change) {
        var all = builds.stream()
                .map(build -> build.id().equals(which) ? change.apply(build) : build)
                .toList();
        return changed(
                all.stream()
                        .filter(build -> build.id().equals(which))
                        .map(TemplateBuild::updatedAt)
                        .findFirst()
                        .orElse(updatedAt),
                buildCount,
                all,
                tags);
    }

    /// A copy without these builds and the tags that point at them.
    public TemplateRecord without(Collection<BuildId> gone) {
        return changed(
                updatedAt,
                buildCount,
                builds.stream().filter(build -> !gone.contains(build.id())).toList(),
                tags.stream().filter(tag -> !gone.contains(tag.buildId())).toList());
    }

    /// A copy with tags that point at one build, wherever they pointed before.
    public TemplateRecord tagged(Collection<String> wanted, BuildId build, Instant at) {
        var all = new ArrayList<>(withoutTags(wanted).tags());
        wanted.stream().distinct().forEach(tag -> all.add(new BuildTag(tag, build, at)));
        return changed(at, buildCount, builds, all);
    }

    public TemplateRecord withoutTags(Collection<String> gone) {
        return changed(
                updatedAt,
                buildCount,
                builds,
                tags.stream().filter(tag -> !gone.contains(tag.tag())).toList());
    }

    public TemplateRecord published(boolean toAll, Instant at) {
        return new TemplateRecord(
                id, teamId, aliases, names, toAll, createdAt, at, lastSpawnedAt, spawnCount, buildCount, builds, tags);
    }

    TemplateRecord spawned(Instant at) {
        return new TemplateRecord(
                id,
                teamId,
                aliases,
                names,
                isPublic,
                createdAt,
                updatedAt,
                at,
                spawnCount + 1,
                buildCount,
                builds,
                tags);
    }

    /// A copy with the counts of started sandboxes of another copy.
    TemplateRecord spawnedLike(TemplateRecord other) {
        return new TemplateRecord(
                id,
                teamId,
                aliases,
                names,
                isPublic,
                createdAt,
                updatedAt,
                other.lastSpawnedAt,
                other.spawnCount,
                buildCount,
                builds,
                tags);
    }

    private TemplateRecord changed(Instant at, int count, List<TemplateBuild> all, List<BuildTag> names) {
        return new TemplateRecord(
                id, teamId, aliases, this.names, isPublic, createdAt, at, lastSpawnedAt, spawnCount, count, all, names);
    }
}
