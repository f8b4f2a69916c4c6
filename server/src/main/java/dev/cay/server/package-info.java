/// The control plane: owns what should be, and the edge in front of it.
///
/// {@link dev.cay.server.CayServer} wires the rooms by plain `new`; read it first. Nodes are known only through
/// {@link dev.cay.wire.node.Node}.
@NullMarked
package dev.cay.server;

import org.jspecify.annotations.NullMarked;
