/// MCP servers that run at their vendor's, or elsewhere in the operator's network. Start with
/// {@link dev.cay.node.mcp.remote.RemoteHome}.
///
/// Users name the addresses, so every connection is made by {@link dev.cay.web.Dialer}.
@NullMarked
package dev.cay.node.mcp.remote;

import org.jspecify.annotations.NullMarked;
