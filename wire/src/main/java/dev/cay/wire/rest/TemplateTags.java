package dev.cay.wire.rest;

import dev.cay.wire.BuildId;
import java.time.Instant;
import java.util.List;

/// The tags of a build after a change.
public record TemplateTags(List<String> tags, BuildId buildID) {
    public TemplateTags {
        tags = List.copyOf(tags);
    }

    /// One tag of a template.
    public record Tag(String tag, BuildId buildID, Instant createdAt) {}
}
