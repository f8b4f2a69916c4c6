package dev.cay.server;

import dev.cay.server.store.OlderState;
import dev.cay.server.store.Store;
import dev.cay.testing.NeedsRoot;
import java.sql.Connection;

@NeedsRoot
final class PostgresOlderStateTest extends OlderStateContract {
    PostgresOlderStateTest() {
        super(OlderState.POSTGRES);
    }

    @Override
    void restore() throws Exception {
        PostgresEngine.restore(OlderState.POSTGRES.script());
    }

    @Override
    Store open() {
        return PostgresEngine.open();
    }

    @Override
    Connection connect() throws Exception {
        return PostgresEngine.connect();
    }
}
