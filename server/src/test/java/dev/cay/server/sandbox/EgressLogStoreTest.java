package dev.cay.server.sandbox;

import dev.cay.server.store.Store;
import dev.cay.server.store.sqlite.TestStore;
import dev.cay.testing.Fast;

@Fast
final class EgressLogStoreTest extends EgressLogStoreContract {
    @Override
    Store open() {
        return TestStore.open(directory.resolve("cay.db"));
    }
}
