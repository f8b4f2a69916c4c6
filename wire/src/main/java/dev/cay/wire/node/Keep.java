package dev.cay.wire.node;

/// What of a sandbox is to be saved.
public enum Keep {
    /// Files and memory; fails as NOT_SAVED when something that runs cannot be saved.
    MEMORY,
    /// Files and memory, or the files alone when something that runs cannot be saved.
    MEMORY_IF_POSSIBLE,
    /// Files alone: what runs is lost.
    FILES
}
