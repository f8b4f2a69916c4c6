/// The sandboxes in which MCP servers run and are installed, as the classes that use them see them. The package
/// `sandbox` of the node implements them with {@link dev.cay.node.mcp.side.SideSandboxHost}.
@NullMarked
package dev.cay.node.mcp.side;

import org.jspecify.annotations.NullMarked;
