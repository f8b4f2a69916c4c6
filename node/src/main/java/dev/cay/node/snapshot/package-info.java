/// Saved sandboxes: files, and optionally the memory of all processes.
///
/// Pauses, forks and named snapshots use {@link dev.cay.node.snapshot.Snapshots}.
@NullMarked
package dev.cay.node.snapshot;

import org.jspecify.annotations.NullMarked;
