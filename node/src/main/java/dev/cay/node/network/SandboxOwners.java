package dev.cay.node.network;

import dev.cay.wire.SandboxId;
import java.util.Optional;

/// Knows for whom a sandbox runs.
public interface SandboxOwners {
    /// Every sandbox is its own.
    SandboxOwners NONE = new SandboxOwners() {
        @Override
        public Optional<String> team(SandboxId id) {
            return Optional.empty();
        }

        @Override
        public SandboxId owner(SandboxId id) {
            return id;
        }
    };

    /// The team; empty where there is none, as for a spare sandbox.
    Optional<String> team(SandboxId id);

    /// The sandbox that a side sandbox runs for; any other is its own owner.
    SandboxId owner(SandboxId id);

    /// The name under which the sandbox's share of what all use is counted: its team, or else itself.
    default String share(SandboxId id) {
        var owner = owner(id);
        return team(owner).orElse(owner.value());
    }
}
