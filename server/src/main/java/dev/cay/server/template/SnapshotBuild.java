package dev.cay.server.template;

import dev.cay.wire.BuildId;
import dev.cay.wire.node.Resources;
import java.time.Instant;

/// What a template stands for that was saved from a running sandbox.
///
/// @param name      what the node calls it
/// @param tag       a template has one build for each
/// @param sandboxId whom it was saved from
public record SnapshotBuild(
        String name,
        String tag,
        BuildId buildId,
        String sandboxId,
        Resources resources,
        Origin origin,
        Instant createdAt) {
    public static final String DEFAULT_TAG = "default";
}
