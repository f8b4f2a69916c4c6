package dev.cay.node.mcp.room;

import dev.cay.node.mcp.catalog.CatalogServer;
import dev.cay.node.mcp.catalog.LaunchPlan;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.Egress;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/// Where rooms for servers come from.
public interface ServerRooms {
    /// What a room is made of.
    ///
    /// @param server  key of the server that it is for; volumes of the same name belong to it alone
    /// @param layers  what it starts from, top first
    /// @param network what it may reach
    /// @param volumes what is mounted in it
    record Wanted(String server, List<String> layers, CatalogServer.Network network, List<LaunchPlan.Volume> volumes) {
        public Wanted {
            layers = List.copyOf(layers);
            volumes = List.copyOf(volumes);
        }
    }

    /// Starts one. Blocks, with a limit.
    ///
    /// @param owner whom it is for; it does not outlive them
    /// @param lost  hears why when it ended, and once; must not block
    ServerRoom open(SandboxId owner, Wanted wanted, Consumer<String> lost);

    /// Returns when an owner has fewer rooms than at the time of the call, or when the time is over.
    void awaitEnd(SandboxId owner, Duration limit);

    /// What an owner may reach, as a server must not be a way around its rules; an owner that is not there reaches
    /// nothing.
    Egress egress(SandboxId owner);

    /// The team of an owner, which no code in a sandbox can choose; empty where none is known.
    Optional<String> team(SandboxId owner);
}
