package dev.cay.wire.rest;

import java.time.Instant;
import java.util.Map;

/// One line of a sandbox's log.
///
/// @param level `debug`, `info`, `warn` or `error`
public record SandboxLogEntry(Instant timestamp, String message, String level, Map<String, String> fields) {
    public SandboxLogEntry {
        fields = Map.copyOf(fields);
    }
}
