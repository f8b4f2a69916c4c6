package dev.cay.server.access;

import dev.cay.wire.TeamId;

/// The owner of sandboxes and templates.
///
/// @param slug the namespace of its templates' names
public record Team(TeamId id, String name, String slug) {}
