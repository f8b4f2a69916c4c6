package dev.cay.server;

import dev.cay.server.store.Store;
import dev.cay.server.store.sqlite.SqliteStore;
import dev.cay.testing.Fast;

@Fast
final class VolumeTest extends VolumeContract {
    @Override
    Store open() {
        return SqliteStore.open(directory.resolve("cay.db"));
    }
}
