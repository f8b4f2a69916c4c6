package dev.cay.wire.node;

import java.time.Instant;

/// One measurement of a sandbox; in bytes unless stated otherwise. `cpuPercent` is of all its CPUs together: 0 to 100.
///
/// @param networkIn  bytes a second that came over its link since the measurement before; requests to its ports do not
///                   use the link
/// @param networkOut bytes a second that it sent over its link
public record ResourceUse(
        Instant at,
        int cpuCount,
        double cpuPercent,
        long memoryUsed,
        long memoryTotal,
        long memoryCache,
        long diskUsed,
        long diskTotal,
        long networkIn,
        long networkOut) {}
