package dev.cay.wire.node;

import dev.cay.wire.SandboxId;
import java.time.Instant;

/// A sandbox as the node sees it.
public record NodeSandbox(SandboxId id, String templateId, Instant startedAt) {}
