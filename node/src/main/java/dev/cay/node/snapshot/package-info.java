/// What is saved of sandboxes: files, and with them the memory of all that ran.
///
/// One room for whoever has something to save or to bring back: a pause and a resume, a fork, a snapshot with a name.
/// {@link dev.cay.node.snapshot.Snapshots} is its face.
@NullMarked
package dev.cay.node.snapshot;

import org.jspecify.annotations.NullMarked;
