package dev.cay.wire.rest;

import com.fasterxml.jackson.annotation.JsonProperty;
import dev.cay.wire.BuildId;
import dev.cay.wire.TemplateId;
import java.util.List;

/// A build that waits for its steps.
public record TemplateRequested(
        TemplateId templateID,
        BuildId buildID,
        @JsonProperty("public") boolean isPublic,
        List<String> names,
        List<String> tags,
        List<String> aliases) {
    public TemplateRequested {
        names = List.copyOf(names);
        tags = List.copyOf(tags);
        aliases = List.copyOf(aliases);
    }
}
