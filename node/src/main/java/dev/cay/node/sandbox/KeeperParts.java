package dev.cay.node.sandbox;

import dev.cay.node.host.Slot;
import dev.cay.node.runtime.Container;
import java.io.IOException;

/// The parts of the node that keepers use.
record KeeperParts(HostParts host, SavedParts saved, TrafficParts traffic, WorkParts work) {
    /// Opens a sandbox that runs.
    OpenSandbox open(SandboxNotes notes, Slot slot, Container container, OpenSandbox.Owner owner) throws IOException {
        return new OpenSandbox(host, traffic, work, notes, slot, container, owner);
    }
}
