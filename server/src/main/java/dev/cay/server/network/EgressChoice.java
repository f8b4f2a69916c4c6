package dev.cay.server.network;

import org.jspecify.annotations.Nullable;

/// All that somebody says about egress, at a create, later, or for a team.
///
/// @param allowInternetAccess null when nothing is said of it
public record EgressChoice(@Nullable Boolean allowInternetAccess, EgressWish wish) {}
