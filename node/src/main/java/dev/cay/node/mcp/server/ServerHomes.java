package dev.cay.node.mcp.server;

import dev.cay.node.mcp.catalog.LaunchPlan;
import dev.cay.wire.SandboxId;

/// Makes the home of a server, in the way of its plan.
public interface ServerHomes {
    /// Makes a home. The server is not checked before the first connection.
    ServerHome open(SandboxId owner, LaunchPlan plan);
}
