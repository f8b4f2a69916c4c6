package dev.cay.server;

import dev.cay.server.store.Store;
import dev.cay.server.store.StoreView;
import dev.cay.server.store.Transaction;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;

/// A store whose every commit gets no answer, as it happens when a PostgreSQL server is replaced: the work is asked
/// whether it was done, and runs again when it does not know. Whatever is tested with it must come out the same.
///
/// It can also be away for a while, as a server elsewhere may be.
final class RepeatingStore implements Store {
    private final Store store;

    volatile boolean away;

    RepeatingStore(Store store) {
        this.store = store;
    }

    @Override
    public <T> T write(Transaction<T> work) {
        requireThere();
        store.write(work::run);
        var earlier = store.write(work::done);
        return earlier.isPresent() ? earlier.get() : store.write(work::run);
    }

    @Override
    public <T> T read(Transaction<T> work) {
        requireThere();
        return store.read(work);
    }

    @Override
    public StoreView view() {
        requireThere();
        return store.view();
    }

    @Override
    public boolean isShared() {
        return true;
    }

    @Override
    public void close() {
        store.close();
    }

    private void requireThere() {
        if (away) {
            throw new CayException(ErrorKind.UNAVAILABLE, "the database cannot be reached");
        }
    }
}
