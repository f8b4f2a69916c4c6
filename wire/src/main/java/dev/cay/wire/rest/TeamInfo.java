package dev.cay.wire.rest;

import dev.cay.wire.TeamId;

/// A team as its members see it.
public record TeamInfo(TeamId teamID, String name, String apiKey, boolean isDefault) {}
