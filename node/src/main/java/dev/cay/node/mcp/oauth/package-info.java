/// Authorizations of MCP servers that run elsewhere: OAuth 2.1 as the MCP revisions from 2025-03-26 to 2026-07-28 have
/// it. Start with {@link dev.cay.node.mcp.oauth.Authorizations}.
///
/// An MCP server names its authorization server, and users name MCP servers: both may be hostile. So every address is
/// called by the {@link dev.cay.web.Dialer}, a token goes to the server that it was issued for and to no other,
/// and a code goes to the authorization server that the user was sent to.
@NullMarked
package dev.cay.node.mcp.oauth;

import org.jspecify.annotations.NullMarked;
