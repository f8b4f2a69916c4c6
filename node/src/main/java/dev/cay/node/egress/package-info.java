/// Connections of sandboxes whose rules name hosts, change requests, use a proxy or need a log: they go through the
/// node. {@link dev.cay.node.egress.EgressPath} is the interface to the rest of the node: the firewall redirects
/// connections to its port, and it judges each by the sandbox's {@link dev.cay.node.egress.EgressRules}.
///
/// Code in a sandbox wrote every byte that arrives here. The package does not know keepers, containers and nftables.
@NullMarked
package dev.cay.node.egress;

import org.jspecify.annotations.NullMarked;
