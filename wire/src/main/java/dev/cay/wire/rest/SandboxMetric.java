package dev.cay.wire.rest;

import java.time.Instant;

/// One measurement of a sandbox, in bytes.
public record SandboxMetric(
        Instant timestamp,
        long timestampUnix,
        int cpuCount,
        double cpuUsedPct,
        long memUsed,
        long memTotal,
        long memCache,
        long diskUsed,
        long diskTotal) {}
