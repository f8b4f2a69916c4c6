package dev.cay.node.mcp.server;

import dev.cay.node.mcp.catalog.LaunchPlan;
import dev.cay.wire.SandboxId;

/// Where servers are made, each in the way its plan says.
public interface ServerHomes {
    /// Promises nothing about the server yet: that begins with the first connection.
    ServerHome open(SandboxId owner, LaunchPlan plan);
}
