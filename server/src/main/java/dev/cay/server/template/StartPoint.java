package dev.cay.server.template;

import dev.cay.server.volume.MountedVolume;
import dev.cay.wire.BuildId;
import dev.cay.wire.TemplateId;
import dev.cay.wire.node.Resources;
import dev.cay.wire.node.StartCommand;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The template build or snapshot that a new sandbox starts from.
///
/// @param alias    the template's name
/// @param snapshot the node's name of a snapshot to restore; null for a cold start
/// @param start    the start command of its sandboxes; null for none
/// @param volumes  mounts of the sandbox that the snapshot was taken of; null for a built template
public record StartPoint(
        TemplateId templateId,
        BuildId buildId,
        @Nullable String alias,
        Resources resources,
        Origin origin,
        @Nullable String snapshot,
        @Nullable StartCommand start,
        @Nullable List<MountedVolume> volumes) {
    /// A copy without the snapshot of a build, for a sandbox with other mounts.
    public StartPoint anew() {
        return new StartPoint(templateId, buildId, alias, resources, origin, null, start, volumes);
    }

    /// The command that a sandbox must start itself; null where the snapshot has it running.
    public @Nullable StartCommand toStart() {
        return snapshot != null || start == null || start.command() == null ? null : start;
    }
}
