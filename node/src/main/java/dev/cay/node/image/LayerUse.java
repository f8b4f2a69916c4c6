package dev.cay.node.image;

/// The time in which something uses layers that nothing names yet. No layer that is claimed meanwhile is removed before
/// the end of it.
public interface LayerUse extends AutoCloseable {
    @Override
    void close();
}
