package dev.cay.server.template;

import dev.cay.server.volume.MountedVolume;
import dev.cay.wire.BuildId;
import dev.cay.wire.node.Resources;
import dev.cay.wire.node.StartCommand;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// One version of a template: layers, or a saved sandbox.
///
/// @param snapshot   the node's name of a snapshot to restore; null for a cold start
/// @param sandboxId  the sandbox that it was saved from; null when it was built
/// @param start      the start command of its sandboxes; null for none
/// @param wantedTags tags that it gets when it is ready
/// @param failure    the reason of a failure; null without one
/// @param finishedAt null until it is ready or has failed
/// @param volumes    mounts of the sandbox that it was saved from
/// @param keyFamily  of the API key that asked for it, whose limits it counts for; null for the operator's
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
        List<MountedVolume> volumes,
        @Nullable String keyFamily) {
    public TemplateBuild {
        wantedTags = List.copyOf(wantedTags);
        volumes = List.copyOf(volumes);
    }

    /// A build of a template that comes with Cay, recorded when it is ready.
    static TemplateBuild made(
            BuildId id,
            BuildStatus status,
            Resources resources,
            Origin origin,
            @Nullable StartCommand start,
            Instant at) {
        return new TemplateBuild(
                id, status, resources, origin, null, null, start, List.of(), null, at, at, at, List.of(), null);
    }

    /// A build from a saved sandbox.
    public static TemplateBuild saved(
            BuildId id,
            Resources resources,
            Origin origin,
            String snapshot,
            String sandboxId,
            List<MountedVolume> volumes,
            @Nullable String keyFamily,
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
                volumes,
                keyFamily);
    }

    /// A requested build without steps yet.
    public static TemplateBuild waiting(
            BuildId id, Resources resources, List<String> wantedTags, @Nullable String keyFamily, Instant at) {
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
                List.of(),
                keyFamily);
    }

    public boolean isReady() {
        return status == BuildStatus.READY;
    }

    /// Whether a client asked for it and it has not ended. A build of a template that comes with Cay waits without a
    /// client: the node makes the template when it can.
    public boolean isUnderWay() {
        return !status.isOver() && finishedAt == null;
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

    /// A copy whose sandboxes start cold.
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
                volumes,
                keyFamily);
    }
}
