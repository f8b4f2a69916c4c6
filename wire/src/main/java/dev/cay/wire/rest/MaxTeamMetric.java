package dev.cay.wire.rest;

import java.time.Instant;

/// The highest value of a team's metric, and when that was.
public record MaxTeamMetric(Instant timestamp, long timestampUnix, double value) {}
