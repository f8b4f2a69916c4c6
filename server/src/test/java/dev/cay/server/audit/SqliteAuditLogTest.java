package dev.cay.server.audit;

import dev.cay.server.store.Store;
import dev.cay.server.store.sqlite.TestStore;
import dev.cay.testing.Fast;

@Fast
final class SqliteAuditLogTest extends AuditLogContract {
    @Override
    Store open() {
        return TestStore.open(directory.resolve("cay.db"));
    }
}
