/// Lifecycle events of sandboxes, written in the transaction of the change.
///
/// Start at {@link dev.cay.server.event.EventStore}.
@NullMarked
package dev.cay.server.event;

import org.jspecify.annotations.NullMarked;
