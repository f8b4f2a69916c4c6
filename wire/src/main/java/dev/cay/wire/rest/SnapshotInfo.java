package dev.cay.wire.rest;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.cay.wire.BuildId;
import dev.cay.wire.TemplateId;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A snapshot of a running sandbox.
///
/// @param snapshotID the id for creating sandboxes
/// @param names      empty without a name
/// @param templateID of the template that holds it; like the fields after it an addition of Cay
/// @param buildID    what sandboxes that start from it have as their build
/// @param sandboxID  the sandbox that was saved
@JsonInclude(JsonInclude.Include.NON_NULL)
public record SnapshotInfo(
        String snapshotID,
        List<String> names,
        TemplateId templateID,
        BuildId buildID,
        @Nullable String sandboxID,
        Instant createdAt) {
    public SnapshotInfo {
        names = List.copyOf(names);
    }
}
