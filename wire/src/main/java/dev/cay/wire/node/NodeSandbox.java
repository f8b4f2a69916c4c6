package dev.cay.wire.node;

import dev.cay.wire.SandboxId;
import dev.cay.wire.TemplateId;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/// A sandbox as the node sees it.
///
/// @param saved what there is of it while it is paused; null when it runs
public record NodeSandbox(
        SandboxId id,
        TemplateId templateId,
        Instant startedAt,
        @Nullable Saved saved) {}
