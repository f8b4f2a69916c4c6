/// The sandboxes in which MCP servers run and are installed, as the classes that use them see them. The package
/// `sandbox` of the node implements them with {@link dev.cay.node.mcp.room.ServerRooms}.
@NullMarked
package dev.cay.node.mcp.room;

import org.jspecify.annotations.NullMarked;
