package dev.cay.node.mcp.oauth;

import java.time.InstantSource;

/// What the authorizations of all servers have in common.
record AuthorizationParts(
        OwnAddress own, Registrations registrations, GrantStore grants, Links links, InstantSource clock) {}
