package dev.cay.server.store;

/// The database. What a {@link #write} returned is on its disk.
public interface Store extends AutoCloseable {
    /// Runs the work in a transaction of its own and returns when that is durable. What the work throws comes out
    /// here, and then nothing of it was written.
    ///
    /// A caller that stops waiting, by interrupt or limit, does not know whether its work was done.
    <T> T write(Transaction<T> work);

    /// Runs the work on one unchanging view of the database. It must not write.
    <T> T read(Transaction<T> work);

    /// Whether other machines can reach it too.
    boolean isShared();

    @Override
    void close();
}
