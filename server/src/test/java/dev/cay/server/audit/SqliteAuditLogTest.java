package dev.cay.server.audit;

import dev.cay.server.store.Store;
import dev.cay.server.store.sqlite.SqliteStore;
import dev.cay.testing.Fast;

@Fast
final class SqliteAuditLogTest extends AuditLogContract {
    @Override
    Store open() {
        return SqliteStore.open(directory.resolve("cay.db"));
    }
}
