package dev.cay.node;

import dev.cay.node.mcp.server.ServerHomes;
import dev.cay.node.runtime.ContainerRuntime;
import dev.cay.node.runtime.GuestProgram;
import dev.cay.node.runtime.RuncRuntime;
import dev.cay.node.sandbox.HostParts;
import dev.cay.node.sandbox.Keepers;
import dev.cay.node.sandbox.SavedParts;
import dev.cay.node.sandbox.TrafficParts;
import dev.cay.node.sandbox.WorkParts;
import java.nio.file.Path;

/// Parts that a node may be put together with instead of the usual ones. Tests put theirs around real parts, and get
/// for all else the node that users have.
public interface NodeVariant {
    NodeVariant USUAL = new NodeVariant() {};

    /// Unpacks the guest.
    default GuestProgram guest(Path directory) {
        return GuestProgram.install(directory);
    }

    default ContainerRuntime runtime(RuncRuntime runc) {
        return runc;
    }

    /// Makes the homes of MCP servers.
    default ServerHomes serverHomes(ServerHomes usual) {
        return usual;
    }

    default Keepers keepers(
            HostParts host, SavedParts saved, TrafficParts traffic, WorkParts work, Keepers.Limits limits) {
        return new Keepers(host, saved, traffic, work, limits);
    }
}
