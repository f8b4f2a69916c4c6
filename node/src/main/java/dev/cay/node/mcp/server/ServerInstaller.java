package dev.cay.node.mcp.server;

import dev.cay.node.mcp.catalog.LaunchPlan;

/// Fetches what servers need, before anybody wants them.
public interface ServerInstaller {
    /// Starts nothing. Takes up to minutes the first time.
    void install(LaunchPlan plan);

    /// How far that is, in a line; empty if nothing is being fetched.
    String progress(LaunchPlan plan);
}
