package dev.cay.server.template;

import dev.cay.server.volume.MountedVolume;
import dev.cay.wire.BuildId;
import dev.cay.wire.node.Resources;
import dev.cay.wire.node.StartCommand;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// What a template has at one time: layers, or what was saved of a sandbox.
///
/// @param snapshot   what its sandboxes go on from, as the node calls it; null when they start anew
/// @param sandboxId  whom it was saved from; null when it was built
/// @param start      what its sandboxes have running; null for nothing
/// @param wantedTags tags that it gets when it is ready
/// @param failure    why it failed; null unless it did
/// @param finishedAt null until it is ready or has failed
/// @param volumes    what the sandbox had mounted that it was saved from
public record TemplateBuild(
        BuildId id,
        BuildStatus status,
        Resources resources,
        Origin origin,
        @Nullable String snapshot,
        @Nullable String sandboxId,
        @Nullable StartCommand start,
        List<String> wantedTags,
        @Nullable BuildFailure failure,
        Instant createdAt,
        Instant updatedAt,
        @Nullable Instant finishedAt,
        List<MountedVolume> volumes) {
    public TemplateBuild {
        wantedTags = List.copyOf(wantedTags);
        volumes = List.copyOf(volumes);
    }

    /// One that was made before it is on record.
    static TemplateBuild made(
            BuildId id,
            BuildStatus status,
            Resources resources,
            Origin origin,
            @Nullable StartCommand start,
            Instant at) {
        return new TemplateBuild(
                id, status, resources, origin, null, null, start, List.of(), null, at, at, at, List.of());
    }

    /// What was saved from a sandbox.
    public static TemplateBuild saved(
            BuildId id,
            Resources resources,
            Origin origin,
            String snapshot,
            String sandboxId,
            List<MountedVolume> volumes,
            Instant at) {
        return new TemplateBuild(
                id,
                BuildStatus.READY,
                resources,
                origin,
                snapshot,
                sandboxId,
                null,
                List.of(),
                null,
                at,
                at,
                at,
                volumes);
    }

    /// One whose steps are still to come.
    public static TemplateBuild waiting(BuildId id, Resources resources, List<String> wantedTags, Instant at) {
        return new TemplateBuild(
                id,
                BuildStatus.WAITING,
                resources,
                Origin.NOTHING,
                null,
                null,
                null,
                wantedTags,
                null,
                at,
                at,
                null,
                List.of());
    }

    public boolean isReady() {
        return status == BuildStatus.READY;
    }

    public boolean isSnapshot() {
        return sandboxId != null;
    }

    public TemplateBuild building(Instant at) {
        return in(BuildStatus.BUILDING, resources, origin, snapshot, start, null, at);
    }

    public TemplateBuild failed(BuildFailure why, Instant at) {
        return in(BuildStatus.ERROR, resources, origin, snapshot, start, why, at);
    }

    public TemplateBuild ready(
            Resources given, Origin made, @Nullable String saved, @Nullable StartCommand started, Instant at) {
        return in(BuildStatus.READY, given, made, saved, started, null, at);
    }

    /// Its sandboxes start anew from now on.
    public TemplateBuild withoutSnapshot() {
        return in(status, resources, origin, null, start, failure, updatedAt);
    }

    private TemplateBuild in(
            BuildStatus next,
            Resources given,
            Origin made,
            @Nullable String saved,
            @Nullable StartCommand started,
            @Nullable BuildFailure why,
            Instant at) {
        return new TemplateBuild(
                id,
                next,
                given,
                made,
                saved,
                sandboxId,
                started,
                wantedTags,
                why,
                createdAt,
                at,
                next.isOver() ? at : null,
                volumes);
    }
}
