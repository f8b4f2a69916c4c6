package dev.cay.node.image;

/// A use of layers that no record names yet. No layer that is claimed meanwhile is removed before its end.
public interface LayerUse extends AutoCloseable {
    @Override
    void close();
}
