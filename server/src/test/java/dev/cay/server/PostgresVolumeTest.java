package dev.cay.server;

import dev.cay.server.store.Store;
import dev.cay.testing.NeedsRoot;
import org.junit.jupiter.api.extension.RegisterExtension;

@NeedsRoot
final class PostgresVolumeTest extends VolumeContract {
    @RegisterExtension
    static final PostgresEngine POSTGRES = new PostgresEngine();

    @Override
    void empty() throws Exception {
        POSTGRES.empty();
    }

    @Override
    Store open() {
        return POSTGRES.open();
    }
}
