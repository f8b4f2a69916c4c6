package dev.cay.server.template;

import dev.cay.wire.BuildId;
import java.time.Instant;

/// A name of one of a template's builds, unique within the template.
public record BuildTag(String tag, BuildId buildId, Instant assignedAt) {
    public static final String DEFAULT = "default";
}
