package dev.cay.node.network;

import dev.cay.node.host.Slot;
import dev.cay.wire.SandboxId;
import java.net.InetAddress;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/// Which sandbox has which address, and for whom it runs. Thread-safe.
final class SandboxAddresses {
    private final Map<InetAddress, SandboxId> byAddress = new ConcurrentHashMap<>();
    private volatile SandboxOwners owners = SandboxOwners.NONE;

    void ownedBy(SandboxOwners known) {
        owners = known;
    }

    void put(SandboxId id, Slot slot) {
        byAddress.put(InetAddress.ofLiteral(slot.address()), id);
    }

    void remove(SandboxId id, Slot slot) {
        byAddress.remove(InetAddress.ofLiteral(slot.address()), id);
    }

    Optional<SandboxId> find(InetAddress address) {
        return Optional.ofNullable(byAddress.get(address));
    }

    /// The name under which the share of a sandbox is counted.
    String share(InetAddress address) {
        return find(address).map(owners::share).orElseGet(address::getHostAddress);
    }
}
