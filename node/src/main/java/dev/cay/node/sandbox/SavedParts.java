package dev.cay.node.sandbox;

import dev.cay.node.snapshot.SealedImages;
import dev.cay.node.snapshot.SnapshotStore;
import dev.cay.node.snapshot.Snapshots;
import dev.cay.node.snapshot.WarmSnapshots;

/// The stores of sandboxes that do not run.
///
/// @param store  what was saved
/// @param warm   what sandboxes with an interpreter go on from
/// @param sealed memory that must not be readable on a disk
/// @param frozen sandboxes that are paused and still in memory
public record SavedParts(
        SnapshotStore store, Snapshots snapshots, WarmSnapshots warm, SealedImages sealed, FrozenSandboxes frozen) {}
