package dev.cay.server;

import dev.cay.server.store.OlderState;
import dev.cay.server.store.Store;
import dev.cay.server.store.sqlite.TestStore;
import dev.cay.testing.Fast;
import java.sql.Connection;

@Fast
final class OlderStateTest extends OlderStateContract {
    OlderStateTest() {
        super(OlderState.SQLITE);
    }

    @Override
    void restore() throws Exception {
        OlderState.writeSqlite(directory.resolve("cay.db"));
    }

    @Override
    Store open() {
        return TestStore.open(directory.resolve("cay.db"));
    }

    @Override
    Connection connect() throws Exception {
        return OlderState.sqlite(directory.resolve("cay.db"));
    }
}
