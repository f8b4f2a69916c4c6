package dev.cay.node.sandbox;

import dev.cay.http.Exchange;
import dev.cay.node.fuse.FuseEndpoint;

/// Requests of programs inside a sandbox to the node: for the MCP gateway, and for FUSE mounts. Requests from outside
/// never come here.
///
/// @param mounts whether the sandbox may ask for mounts
record InsideEndpoints(McpEndpoint mcp, FuseEndpoint fuse, boolean mounts) {
    /// Answers a request to envd's port that exists only inside.
    ///
    /// @return false if it is an ordinary request of envd
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
