package dev.cay.wire.node;

import java.time.Instant;
import java.util.Map;

/// One line of a sandbox's log: an action in it, never the output of a command and no value of a variable.
///
/// @param logger the part of the platform that logs: `process`, `filesystem`, `sandbox`
/// @param fields facts by name, for programs
public record LogLine(Instant at, Level level, String logger, String message, Map<String, String> fields) {
    public LogLine {
        fields = Map.copyOf(fields);
    }

    /// From the least to the most urgent.
    public enum Level {
        DEBUG,
        INFO,
        WARN,
        ERROR
    }
}
