package dev.cay.wire.rest;

import java.time.Instant;

/// How many sandboxes a team had, and how many it started each second.
public record TeamMetric(Instant timestamp, long timestampUnix, int concurrentSandboxes, double sandboxStartRate) {}
