package dev.cay.server.store;

/// All records as they were at one moment, for as long as this is open. Holds one connection to the database; a reader
/// that asks for nothing during half a minute may lose it.
public interface StoreView extends StoreReading, AutoCloseable {
    @Override
    void close();
}
