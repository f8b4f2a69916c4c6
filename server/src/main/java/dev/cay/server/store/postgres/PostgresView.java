package dev.cay.server.store.postgres;

import dev.cay.server.store.StoreView;
import dev.cay.server.store.Transaction;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import org.jdbi.v3.core.Handle;

/// A transaction at REPEATABLE READ that only reads.
final class PostgresView implements StoreView {
    private final Handle handle;

    /// @param handle becomes this view's own
    PostgresView(Handle handle) {
        this.handle = handle;
        handle.setReadOnly(true);
        handle.begin();
        // The transaction's view is that of its first statement.
        read(first -> first.createQuery("SELECT 1").mapTo(Integer.class).one());
    }

    @Override
    public synchronized <T> T read(Transaction<T> work) {
        try {
            return work.run(handle);
        } catch (Exception e) {
            throw switch (PostgresFailure.translate(e)) {
                case RuntimeException known -> known;
                case Throwable other -> new CayException(ErrorKind.INTERNAL, "the database refused the work", other);
            };
        }
    }

    @Override
    public synchronized void close() {
        handle.rollback();
        handle.close();
    }
}
