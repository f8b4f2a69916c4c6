package dev.cay.server.audit;

import dev.cay.server.store.Store;
import dev.cay.server.store.postgres.PostgresAddress;
import dev.cay.server.store.postgres.PostgresStore;
import dev.cay.testing.NeedsRoot;
import dev.cay.testing.OwnPostgres;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;

@NeedsRoot
final class PostgresAuditLogTest extends AuditLogContract {
    @TempDir
    private static Path shared = Path.of("unset");

    @SuppressWarnings("NullAway.Init")
    private static OwnPostgres server;

    @BeforeAll
    static void startServer() throws Exception {
        server = OwnPostgres.start(shared.resolve("server"));
    }

    @AfterAll
    static void stopServer() throws Exception {
        server.close();
    }

    @Override
    Store open() throws Exception {
        server.query("DROP SCHEMA public CASCADE; CREATE SCHEMA public");
        return PostgresStore.open(PostgresAddress.parse(server.url()), server.password(), 6);
    }
}
