package dev.cay.server;

import dev.cay.server.store.Store;
import dev.cay.server.store.sqlite.TestStore;
import dev.cay.testing.Fast;

@Fast
final class LimitsTest extends LimitsContract {
    @Override
    Store open() {
        return TestStore.open(directory.resolve("cay.db"));
    }
}
