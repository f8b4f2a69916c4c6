/// The front door: decides whether a request is for the control plane or for a port of a sandbox.
///
/// Start at {@link dev.cay.server.edge.FrontDoor}. What happens behind a port is not known here.
@NullMarked
package dev.cay.server.edge;

import org.jspecify.annotations.NullMarked;
