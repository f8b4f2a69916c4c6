package dev.cay.server;

import dev.cay.server.store.Store;
import dev.cay.server.store.Transaction;

/// A store whose every commit gets no answer, as it happens when a PostgreSQL server is replaced: the work is asked
/// whether it was done, and runs again when it does not know. Whatever is tested with it must come out the same.
record RepeatingStore(Store store) implements Store {
    @Override
    public <T> T write(Transaction<T> work) {
        store.write(work::run);
        var earlier = store.write(work::done);
        return earlier.isPresent() ? earlier.get() : store.write(work::run);
    }

    @Override
    public <T> T read(Transaction<T> work) {
        return store.read(work);
    }

    @Override
    public boolean isShared() {
        return true;
    }

    @Override
    public void close() {
        store.close();
    }
}
