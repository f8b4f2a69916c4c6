/// Snapshots of running sandboxes, and their uses: templates, forks, and rollback of the sandbox itself.
///
/// Start at {@link dev.cay.server.snapshot.Snapshots}. Names of snapshots are stored with those of templates, because
/// one can be used like the other.
@NullMarked
package dev.cay.server.snapshot;

import org.jspecify.annotations.NullMarked;
