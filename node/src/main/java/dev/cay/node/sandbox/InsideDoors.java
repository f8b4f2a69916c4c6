package dev.cay.node.sandbox;

import dev.cay.http.Exchange;
import dev.cay.node.fuse.FuseDoor;

/// Where programs in a sandbox ask the node for something: for the MCP gateway, and for file systems to be mounted.
/// Requests from outside do not come here.
///
/// @param mounts whether the sandbox is one that may ask for mounts
record InsideDoors(McpDoor mcp, FuseDoor fuse, boolean mounts) {
    /// Answers a request to the port of envd.
    ///
    /// @return false if it is for somebody else
    boolean serve(Exchange exchange) throws Exception {
        if (mcp.isControl(exchange)) {
            mcp.control(exchange);
            return true;
        }
        if (mounts && fuse.handles(exchange)) {
            fuse.handle(exchange);
            return true;
        }
        return false;
    }
}
