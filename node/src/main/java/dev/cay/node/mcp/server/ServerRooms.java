package dev.cay.node.mcp.server;

import dev.cay.node.mcp.catalog.CatalogServer;
import dev.cay.wire.SandboxId;
import java.util.List;
import java.util.function.Consumer;

/// Where rooms for servers come from.
public interface ServerRooms {
    /// Starts one. Blocks, with a limit.
    ///
    /// @param owner   whom it is for; it does not outlive them
    /// @param layers  what it starts from, top first
    /// @param network what it may reach
    /// @param lost    hears why when it ended, and once; must not block
    ServerRoom open(SandboxId owner, List<String> layers, CatalogServer.Network network, Consumer<String> lost);

    /// Whether an owner may reach the internet, as a server must not be a way out for who has none; one that is not
    /// there may not.
    boolean mayReachInternet(SandboxId owner);
}
