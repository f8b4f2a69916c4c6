package dev.cay.node.mcp.side;

import dev.cay.node.mcp.catalog.CatalogServer;
import dev.cay.node.mcp.catalog.LaunchPlan;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.Egress;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/// Opens side sandboxes for servers.
public interface SideSandboxHost {
    /// The inputs of a side sandbox.
    ///
    /// @param server  key of its server; volumes of the same name belong to that alone
    /// @param layers  its layers, top first
    /// @param network the network it may reach
    /// @param volumes its mounts
    record Wanted(String server, List<String> layers, CatalogServer.Network network, List<LaunchPlan.Volume> volumes) {
        public Wanted {
            layers = List.copyOf(layers);
            volumes = List.copyOf(volumes);
        }
    }

    /// Starts one. Blocks, with a limit.
    ///
    /// @param owner the sandbox it is for; it ends with that
    /// @param lost  called once with the reason when it has ended; must not block
    SideSandbox open(SandboxId owner, Wanted wanted, Consumer<String> lost);

    /// Returns when an owner has fewer side sandboxes than at the time of the call, or when the time is over.
    void awaitEnd(SandboxId owner, Duration limit);

    /// What an owner may reach, as a server must not be a way around its rules; an owner that is not there reaches
    /// nothing.
    Egress egress(SandboxId owner);

    /// The team of an owner, which no code in a sandbox can choose; empty where none is known.
    Optional<String> team(SandboxId owner);
}
