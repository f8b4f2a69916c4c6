package dev.cay.server.store;

import org.jdbi.v3.core.Handle;

/// A piece of work on the database, done whole or not at all.
///
/// Runs on one of the store's own threads, beside others that wait for it: no call to a node, no waiting in here.
public interface Transaction<T> {
    T run(Handle handle) throws Exception;
}
