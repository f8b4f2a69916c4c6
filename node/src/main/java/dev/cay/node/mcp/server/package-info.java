/// Where MCP servers run, or are reached: in sandboxes of their own, or at their vendor's.
///
/// Carries messages and knows nothing of what they say. All that comes from a server is hostile.
@NullMarked
package dev.cay.node.mcp.server;

import org.jspecify.annotations.NullMarked;
