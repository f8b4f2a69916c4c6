package dev.cay.server;

import dev.cay.server.store.Store;
import dev.cay.server.store.sqlite.TestStore;
import dev.cay.testing.Fast;

@Fast
final class VolumeTest extends VolumeContract {
    @Override
    Store open() {
        return TestStore.open(directory.resolve("cay.db"));
    }
}
