/// The control plane: records of what should exist, and the edge in front of it.
///
/// {@link dev.cay.server.CayServer} puts the packages together by plain `new`; read it first. It has a record for each
/// group of parts, like `SandboxParts`, and `ApiRoutes` has the API that they serve. Nodes are known only through
/// {@link dev.cay.wire.node.Node}.
@NullMarked
package dev.cay.server;

import org.jspecify.annotations.NullMarked;
