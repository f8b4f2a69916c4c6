package dev.cay.server.store;

import java.util.Optional;
import org.jdbi.v3.core.Handle;

/// A piece of work on the database, done whole or not at all.
///
/// It runs beside others that wait for it: no call to a node, no waiting in here. It may run more than once, when
/// another transaction came in its way or the connection broke, so it changes nothing but the database.
public interface Transaction<T> {
    T run(Handle handle) throws Exception;

    /// Looks whether an earlier run of this work was written. The store asks before it runs the work again after a
    /// commit whose answer was lost.
    ///
    /// @return what that run means for the caller; empty when it was not written, or when the work may run twice
    default Optional<T> done(Handle handle) throws Exception {
        return Optional.empty();
    }
}
