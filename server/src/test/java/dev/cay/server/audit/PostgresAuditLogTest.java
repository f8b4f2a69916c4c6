package dev.cay.server.audit;

import dev.cay.server.PostgresEngine;
import dev.cay.server.store.Store;
import dev.cay.testing.NeedsRoot;

@NeedsRoot
final class PostgresAuditLogTest extends AuditLogContract {
    @Override
    Store open() throws Exception {
        PostgresEngine.empty();
        return PostgresEngine.open();
    }
}
