/// Sandboxes that are saved while they go on, and what can be made of that: templates to start others from, forks, and
/// a way back for the sandbox itself.
///
/// Start at {@link dev.cay.server.snapshot.Snapshots}. The names of what was saved lie with those of templates, as one
/// may be used like the other.
@NullMarked
package dev.cay.server.snapshot;

import org.jspecify.annotations.NullMarked;
