package dev.cay.wire.node;

import java.time.Instant;

/// One measurement of a sandbox; in bytes unless stated otherwise. `cpuPercent` is of all its CPUs together: 0 to 100.
public record ResourceUse(
        Instant at,
        int cpuCount,
        double cpuPercent,
        long memoryUsed,
        long memoryTotal,
        long memoryCache,
        long diskUsed,
        long diskTotal) {}
