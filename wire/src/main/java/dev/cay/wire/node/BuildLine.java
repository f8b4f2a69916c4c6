package dev.cay.wire.node;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/// One line of a build's log.
///
/// @param step `base`, the number of a step, or `finalize`; null when it belongs to none
public record BuildLine(
        Instant at, LogLine.Level level, @Nullable String step, String message) {}
