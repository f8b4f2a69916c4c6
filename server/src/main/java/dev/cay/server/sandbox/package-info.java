/// The life of sandboxes on the server: records, states, timeouts and the routes that change them.
///
/// Read {@link dev.cay.server.sandbox.SandboxRoutes}, then {@link dev.cay.server.sandbox.Sandboxes}. Living sandboxes
/// are also in {@link dev.cay.server.sandbox.SandboxDirectory}, so neither the edge nor a listing waits for the disk.
/// The node runs sandboxes; this package does not know how.
@NullMarked
package dev.cay.server.sandbox;

import org.jspecify.annotations.NullMarked;
