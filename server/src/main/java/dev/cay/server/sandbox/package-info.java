/// The life of sandboxes as the server wants it: records, states, timeouts and the routes that change them.
///
/// Read {@link dev.cay.server.sandbox.SandboxRoutes}, then {@link dev.cay.server.sandbox.Sandboxes}. What lives is also
/// in {@link dev.cay.server.sandbox.SandboxDirectory}, so that neither the edge nor a listing waits for the disk. How a
/// sandbox runs is the business of the node and must not be known here.
@NullMarked
package dev.cay.server.sandbox;

import org.jspecify.annotations.NullMarked;
