package dev.cay.wire.rest;

/// A collection that was begun.
///
/// @param olderThanSeconds how long a thing must not have been used to be removed
public record CollectionRequested(String collectionID, boolean dryRun, long olderThanSeconds) {}
