/// The network of sandboxes, and its firewall. Start reading at {@link dev.cay.node.network.NetworkPool}.
///
/// `cay-guest hook` makes the link itself (veth, addresses, the sandbox's own source NAT); this package only removes
/// it. It does not know what runs in a sandbox.
@NullMarked
package dev.cay.node.network;

import org.jspecify.annotations.NullMarked;
