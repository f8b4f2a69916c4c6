package dev.cay.server.template;

import dev.cay.server.volume.MountedVolume;
import dev.cay.wire.BuildId;
import dev.cay.wire.TemplateId;
import dev.cay.wire.node.Resources;
import dev.cay.wire.node.StartCommand;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// What a new sandbox starts from.
///
/// @param alias    what its template is called
/// @param snapshot what it goes on from, as the node calls it; null for one that starts anew
/// @param start    what its sandboxes have running; null for nothing
/// @param volumes  what was mounted in the sandbox that the snapshot was taken of; null for what was built
public record StartPoint(
        TemplateId templateId,
        BuildId buildId,
        @Nullable String alias,
        Resources resources,
        Origin origin,
        @Nullable String snapshot,
        @Nullable StartCommand start,
        @Nullable List<MountedVolume> volumes) {
    /// The same without the snapshot of a build, for a sandbox that has something else mounted than that had.
    public StartPoint anew() {
        return new StartPoint(templateId, buildId, alias, resources, origin, null, start, volumes);
    }

    /// What a sandbox must start by itself: nothing where the snapshot has it running.
    public @Nullable StartCommand toStart() {
        return snapshot != null || start == null || start.command() == null ? null : start;
    }
}
