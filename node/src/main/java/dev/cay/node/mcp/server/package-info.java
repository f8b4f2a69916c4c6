/// MCP servers in side sandboxes, and the interface for those elsewhere.
///
/// The package passes messages on and does not know what they mean. All data of a server is hostile.
@NullMarked
package dev.cay.node.mcp.server;

import org.jspecify.annotations.NullMarked;
