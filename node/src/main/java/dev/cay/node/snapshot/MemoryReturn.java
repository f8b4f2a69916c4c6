package dev.cay.node.snapshot;

/// How the memory of a saved sandbox comes back.
public enum MemoryReturn {
    /// Not at all: it starts cold on its files.
    NONE,
    AT_ONCE,
    /// While it runs.
    LAZILY
}
