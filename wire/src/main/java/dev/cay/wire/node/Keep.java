package dev.cay.wire.node;

/// The parts of a sandbox that a save keeps.
public enum Keep {
    /// Files and memory; fails as NOT_SAVED when something that runs cannot be saved.
    MEMORY,
    /// Files and memory, or the files alone when something that runs cannot be saved.
    MEMORY_IF_POSSIBLE,
    /// Files alone: what runs is lost.
    FILES
}
