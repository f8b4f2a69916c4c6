/// One keeper per sandbox: starts it, connects to it, ends it, and adopts it after a restart of the daemon.
///
/// Start reading at {@link dev.cay.node.sandbox.Keepers}, which is the {@link dev.cay.wire.node.Node} that servers call
/// and the entry for all requests to sandboxes. {@link dev.cay.node.sandbox.SandboxKeeper} has the order in which a
/// sandbox is built and removed; {@link dev.cay.node.sandbox.OpenSandbox} holds all connections to a running one. The
/// other packages know what happens in each step.
@NullMarked
package dev.cay.node.sandbox;

import org.jspecify.annotations.NullMarked;
