package dev.cay.server.template;

import dev.cay.wire.BuildId;
import dev.cay.wire.TemplateId;
import dev.cay.wire.node.Resources;
import org.jspecify.annotations.Nullable;

/// What a new sandbox starts from.
///
/// @param alias    what its template is called
/// @param snapshot what it goes on from, as the node calls it; null for one that starts anew
public record StartPoint(
        TemplateId templateId,
        BuildId buildId,
        @Nullable String alias,
        Resources resources,
        Origin origin,
        @Nullable String snapshot) {}
