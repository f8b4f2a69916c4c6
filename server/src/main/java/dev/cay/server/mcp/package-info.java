/// Routes for the MCP servers of sandboxes' gateways.
@NullMarked
package dev.cay.server.mcp;

import org.jspecify.annotations.NullMarked;
