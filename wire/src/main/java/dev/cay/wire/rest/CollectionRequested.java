package dev.cay.wire.rest;

/// A collection that was started.
///
/// @param olderThanSeconds how long a thing must be unused to be removed
public record CollectionRequested(String collectionID, boolean dryRun, long olderThanSeconds) {}
