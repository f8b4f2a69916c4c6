package dev.cay.node.network;

import dev.cay.node.host.HostPlan;
import dev.cay.node.host.Slot;
import java.util.Collection;
import java.util.List;

/// Owns the host's side of all sandboxes' networking: firewall, gateway address, names. Thread-safe.
///
/// Sandboxes outlive the daemon, so {@link #close} only stops answering DNS; the rules that hold sandboxes back stay
/// until {@link #remove}.
public final class NetworkPool implements AutoCloseable {
    /// @param nameservers what DNS questions are passed on to; empty means whatever the host uses
    public NetworkPool(HostPlan plan, List<String> nameservers) {}

    /// Loads the rules, puts the gateway address on the host and begins to answer DNS. Sandboxes that are there
    /// already keep the internet access they had.
    public void start() {}

    /// Makes ready for the link of a sandbox that is about to start, or takes up one that runs. Call it before the
    /// hook makes the link.
    public void attach(Slot slot, boolean internetAccess) {}

    /// Acts at once, also on connections that are open.
    public void setInternetAccess(Slot slot, boolean allowed) {}

    /// Removes the host's end of the link and all that was said about it; the slot may be released afterwards.
    public void detach(Slot slot) {}

    /// Names of interfaces of this instance which none of these slots claims: leftovers of a crash.
    public List<String> orphans(Collection<Slot> claimed) {
        return List.of();
    }

    public void removeOrphans(Collection<Slot> claimed) {}

    @Override
    public void close() {}

    /// Takes everything of this instance from the host, rules included. Only when no sandbox runs.
    public void remove() {}
}
