package dev.cay.node.sandbox;

import dev.cay.node.host.Slot;
import dev.cay.node.runtime.Container;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/// Makes keepers of sandboxes, and opens their sandboxes, with what this machine has.
record KeeperFactory(HostParts host, SavedParts saved, TrafficParts traffic, WorkParts work) {
    /// @param slot null for one that is paused
    SandboxKeeper make(@Nullable Slot slot, SandboxNotes notes, SandboxKeeper.Ended ended) {
        return new SandboxKeeper(this, slot, notes, ended);
    }

    OpenSandbox open(SandboxNotes notes, Slot slot, Container container, OpenSandbox.Owner owner) throws IOException {
        return new OpenSandbox(host, traffic, work, notes, slot, container, owner);
    }
}
