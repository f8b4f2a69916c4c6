package dev.cay.wire.rest;

import dev.cay.wire.BuildId;
import dev.cay.wire.TemplateId;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The status of a build, and a part of its log.
///
/// @param logs the log in the form of older clients
public record TemplateBuildInfo(
        TemplateId templateID,
        BuildId buildID,
        String status,
        List<String> logs,
        List<Entry> logEntries,
        @Nullable Reason reason) {
    public TemplateBuildInfo {
        logs = List.copyOf(logs);
        logEntries = List.copyOf(logEntries);
    }

    /// One line.
    public record Entry(
            Instant timestamp,
            String message,
            String level,
            @Nullable String step) {}

    /// Why it failed.
    public record Reason(String message, @Nullable String step, List<Entry> logEntries) {
        public Reason {
            logEntries = List.copyOf(logEntries);
        }
    }
}
