package dev.cay.server.store;

/// A store, or a view of one, that can be read.
public interface StoreReading {
    /// Runs the work on one unchanging view of the database. It must not write.
    <T> T read(Transaction<T> work);
}
