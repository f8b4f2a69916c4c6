/// What happened to sandboxes, written in the transaction that made it happen.
///
/// Start at {@link dev.cay.server.event.EventStore}.
@NullMarked
package dev.cay.server.event;

import org.jspecify.annotations.NullMarked;
