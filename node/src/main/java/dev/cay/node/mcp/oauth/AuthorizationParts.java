package dev.cay.node.mcp.oauth;

import java.time.InstantSource;

/// What the authorizations of all servers have in common.
///
/// @param inside  for servers at addresses that the operator named
/// @param outside for all other servers, which must not lead this Cay to addresses that the operator named
record AuthorizationParts(
        OwnAddress own,
        OAuthWeb inside,
        OAuthWeb outside,
        Registrations registrations,
        GrantStore grants,
        Links links,
        InstantSource clock) {}
