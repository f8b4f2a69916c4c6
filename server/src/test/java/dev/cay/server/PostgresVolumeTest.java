package dev.cay.server;

import dev.cay.server.store.Store;
import dev.cay.testing.NeedsRoot;

@NeedsRoot
final class PostgresVolumeTest extends VolumeContract {
    @Override
    void empty() throws Exception {
        PostgresEngine.empty();
    }

    @Override
    Store open() {
        return PostgresEngine.open();
    }
}
