package dev.cay.server;

import dev.cay.server.store.Store;
import dev.cay.testing.NeedsRoot;

@NeedsRoot
final class PostgresLimitsTest extends LimitsContract {
    @Override
    void empty() throws Exception {
        PostgresEngine.empty();
    }

    @Override
    Store open() {
        return PostgresEngine.open();
    }
}
