package dev.cay.node.mcp.server;

import dev.cay.node.mcp.catalog.LaunchPlan;
import dev.cay.wire.SandboxId;

/// Fetches what servers need, in advance.
public interface ServerInstaller {
    /// Fetches without starting anything. Takes up to minutes the first time.
    ///
    /// @param owner the sandbox whose side sandboxes do the work that must not run on the host
    void install(SandboxId owner, LaunchPlan plan);

    /// The progress, in a line; empty without a fetch.
    String progress(LaunchPlan plan);
}
