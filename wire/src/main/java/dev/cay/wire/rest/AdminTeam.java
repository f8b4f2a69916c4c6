package dev.cay.wire.rest;

import dev.cay.wire.TeamId;

/// A team as the operator sees it.
///
/// @param slug begins the full names of its templates
/// @param keys how many API keys it has
/// @param running how many of its sandboxes run
public record AdminTeam(TeamId teamID, String name, String slug, int keys, int running) {}
