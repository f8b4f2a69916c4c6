package dev.cay.node.sandbox;

import dev.cay.node.network.SandboxOwners;
import dev.cay.wire.SandboxId;
import java.util.Optional;

/// The owners of this node's sandboxes.
record OwnersOfSandboxes(SideSandboxes sides) implements SandboxOwners {
    @Override
    public Optional<String> team(SandboxId id) {
        return sides.team(id);
    }

    @Override
    public SandboxId owner(SandboxId id) {
        return sides.ownerOf(id);
    }
}
