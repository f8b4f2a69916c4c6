package dev.cay.server.sandbox;

import dev.cay.server.PostgresEngine;
import dev.cay.server.store.Store;
import dev.cay.testing.NeedsRoot;

@NeedsRoot
final class PostgresEgressLogStoreTest extends EgressLogStoreContract {
    @Override
    Store open() throws Exception {
        PostgresEngine.empty();
        return PostgresEngine.open();
    }
}
