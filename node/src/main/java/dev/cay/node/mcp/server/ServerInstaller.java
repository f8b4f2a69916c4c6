package dev.cay.node.mcp.server;

import dev.cay.node.mcp.catalog.LaunchPlan;
import dev.cay.wire.SandboxId;

/// Fetches what servers need, before anybody wants them.
public interface ServerInstaller {
    /// Starts nothing. Takes up to minutes the first time.
    ///
    /// @param owner the sandbox it is for, whose side sandboxes do what must not be done on the host
    void install(SandboxId owner, LaunchPlan plan);

    /// How far that is, in a line; empty if nothing is being fetched.
    String progress(LaunchPlan plan);
}
