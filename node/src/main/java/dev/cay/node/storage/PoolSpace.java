package dev.cay.node.storage;

/// Space in the pool that is free for one use, until it is closed.
public interface PoolSpace extends AutoCloseable {
    @Override
    void close();
}
