package dev.cay.server.network;

import org.jspecify.annotations.Nullable;

/// The egress fields of a create, a change, or a team's default.
///
/// @param allowInternetAccess null when the field is absent
public record EgressChoice(@Nullable Boolean allowInternetAccess, EgressWish wish) {}
