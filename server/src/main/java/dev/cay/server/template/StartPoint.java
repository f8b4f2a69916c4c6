package dev.cay.server.template;

import dev.cay.wire.BuildId;
import dev.cay.wire.TemplateId;
import dev.cay.wire.node.Resources;
import dev.cay.wire.node.StartCommand;
import org.jspecify.annotations.Nullable;

/// What a new sandbox starts from.
///
/// @param alias    what its template is called
/// @param snapshot what it goes on from, as the node calls it; null for one that starts anew
/// @param start    what its sandboxes have running; null for nothing
public record StartPoint(
        TemplateId templateId,
        BuildId buildId,
        @Nullable String alias,
        Resources resources,
        Origin origin,
        @Nullable String snapshot,
        @Nullable StartCommand start) {
    /// What a sandbox must start by itself: nothing where the snapshot has it running.
    public @Nullable StartCommand toStart() {
        return snapshot != null || start == null || start.command() == null ? null : start;
    }
}
