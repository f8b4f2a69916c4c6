/// Builds of templates that users define, as the server sees them: who asked for what, how far it is, what it said.
///
/// Start at {@link dev.cay.server.build.Builds}. The node does the work ({@link dev.cay.wire.node.NodeBuilds}).
@NullMarked
package dev.cay.server.build;

import org.jspecify.annotations.NullMarked;
