package dev.cay.node.network;

import dev.cay.wire.SandboxId;
import dev.cay.wire.node.Egress;
import java.net.InetAddress;
import java.util.Optional;

/// The path through the node as the network knows it: which sandboxes take it, and by which rules.
///
/// The kernel redirects TCP of such a sandbox to one port of the gateway address. While nothing listens there,
/// all of it is refused.
public interface PathRules {
    /// A path on which nothing listens.
    PathRules NONE = new PathRules() {
        @Override
        public void put(SandboxId id, InetAddress source, Egress egress) {}

        @Override
        public void remove(SandboxId id) {}

        @Override
        public Optional<NameFilter> names(InetAddress client) {
            return Optional.empty();
        }
    };

    /// The sandbox at this address takes the path by these rules from now on. Open connections that they do not
    /// allow are cut.
    void put(SandboxId id, InetAddress source, Egress egress);

    /// The sandbox does not take the path any more; its open connections are cut. Unknown ones are fine.
    void remove(SandboxId id);

    /// The firewall refused something that the sandbox sent.
    ///
    /// @param port 0 where the protocol has none
    default void refused(SandboxId id, String protocol, InetAddress address, int port) {}

    /// The node refused to look up a name for the sandbox.
    ///
    /// @param name in lower case
    default void refusedName(SandboxId id, String name) {}

    /// The filter of names for the sandbox at this address, if it is on the path.
    Optional<NameFilter> names(InetAddress client);
}
