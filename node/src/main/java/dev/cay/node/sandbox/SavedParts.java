package dev.cay.node.sandbox;

import dev.cay.node.snapshot.SealedImages;
import dev.cay.node.snapshot.Snapshots;
import dev.cay.node.snapshot.WarmSnapshots;

/// What holds sandboxes that do not run.
///
/// @param warm   what sandboxes with an interpreter go on from
/// @param sealed memory that must not be readable on a disk
public record SavedParts(Snapshots snapshots, WarmSnapshots warm, SealedImages sealed) {}
