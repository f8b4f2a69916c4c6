package dev.cay.wire.rest;

import java.time.Instant;

/// One measurement of a sandbox, in bytes.
///
/// @param networkIn bytes a second; an addition of Cay, as is `networkOut`
public record SandboxMetric(
        Instant timestamp,
        long timestampUnix,
        int cpuCount,
        double cpuUsedPct,
        long memUsed,
        long memTotal,
        long memCache,
        long diskUsed,
        long diskTotal,
        long networkIn,
        long networkOut) {}
