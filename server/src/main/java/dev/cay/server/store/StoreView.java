package dev.cay.server.store;

/// A consistent view of all records at one moment, until it is closed. Holds one connection to the database; after half
/// a minute without a read the connection may be lost.
public interface StoreView extends StoreReading, AutoCloseable {
    @Override
    void close();
}
