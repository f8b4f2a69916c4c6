/// The way of a sandbox's connections through the node, for sandboxes whose rules name hosts, change
/// requests, use a proxy or want a log. {@link dev.cay.node.egress.EgressPath} is the face to the rest of
/// the node: the firewall redirects connections to its port, and it judges each by the sandbox's {@link
/// dev.cay.node.egress.EgressRules}.
///
/// Every byte that arrives here was written by code in a sandbox. Knows nothing of keepers, containers and
/// nftables.
@NullMarked
package dev.cay.node.egress;

import org.jspecify.annotations.NullMarked;
