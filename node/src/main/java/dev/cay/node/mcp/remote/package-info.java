/// MCP servers that run at their vendor's, or elsewhere in the operator's network. Start with
/// {@link dev.cay.node.mcp.remote.RemoteHome}.
///
/// Users name the addresses, and the node calls them from the host, where more can be reached than they may see. So
/// every connection is made by {@link dev.cay.node.mcp.remote.Dialer}, to an address that it has looked at itself.
@NullMarked
package dev.cay.node.mcp.remote;

import org.jspecify.annotations.NullMarked;
