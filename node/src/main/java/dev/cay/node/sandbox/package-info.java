/// One keeper per sandbox: starts it, opens its doors, ends it, and takes it up again after a restart of the daemon.
///
/// Start reading at {@link dev.cay.node.sandbox.Keepers}, which is the {@link dev.cay.wire.node.Node} that servers talk
/// to and the way in for all traffic. {@link dev.cay.node.sandbox.SandboxKeeper} holds the order in which a sandbox is
/// built and taken apart; {@link dev.cay.node.sandbox.OpenSandbox} is all the node holds open of a running one. What
/// happens behind each step is known to the other rooms only.
@NullMarked
package dev.cay.node.sandbox;

import org.jspecify.annotations.NullMarked;
