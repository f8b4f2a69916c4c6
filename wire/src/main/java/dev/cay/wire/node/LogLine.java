package dev.cay.wire.node;

import java.time.Instant;
import java.util.Map;

/// One line of a sandbox's log: what was done in it, never what it printed and no value of a variable.
///
/// @param logger what part of the platform speaks: `process`, `filesystem`, `sandbox`
/// @param fields facts by name, for machines
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
