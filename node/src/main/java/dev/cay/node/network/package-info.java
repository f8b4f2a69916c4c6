/// The sandboxes' way to the world, and what keeps them from everything else. Start reading at
/// {@link dev.cay.node.network.NetworkPool}.
///
/// The link itself (veth, addresses, the sandbox's own source NAT) is made by `cay-guest hook`; this room only takes
/// it away. It must not know what runs in a sandbox.
@NullMarked
package dev.cay.node.network;

import org.jspecify.annotations.NullMarked;
