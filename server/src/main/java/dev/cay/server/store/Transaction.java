package dev.cay.server.store;

import java.util.Optional;
import org.jdbi.v3.core.Handle;

/// A piece of work on the database, done whole or not at all.
///
/// It runs beside others that wait for it: no call to a node, no waiting in here. It may run more than once, when
/// another transaction came in its way or the connection broke, so it changes nothing but the database.
public interface Transaction<T> {
    T run(Handle handle) throws Exception;

    /// Checks whether an earlier run of this transaction was committed. The store asks before it repeats a transaction
    /// whose commit had no answer.
    ///
    /// @return the result of that run; empty when it was not committed, or when the transaction may run twice
    default Optional<T> done(Handle handle) throws Exception {
        return Optional.empty();
    }
}
