/// Builds of templates on the server: requests, progress and logs.
///
/// Start at {@link dev.cay.server.build.Builds}. The node does the work ({@link dev.cay.wire.node.NodeBuilds}).
@NullMarked
package dev.cay.server.build;

import org.jspecify.annotations.NullMarked;
