package dev.cay.server.store;

/// The database. What a {@link #write} returned is on its disk.
public interface Store extends StoreReading, AutoCloseable {
    /// Runs the work in a transaction of its own and returns when that is durable. What the work throws comes out
    /// here, and then nothing of it was written.
    ///
    /// A caller that stops waiting, by interrupt or limit, does not know whether its work was done.
    <T> T write(Transaction<T> work);

    /// Opens a view of all records as they are at this moment.
    StoreView view();

    /// Whether other machines can reach it too.
    boolean isShared();

    @Override
    void close();
}
