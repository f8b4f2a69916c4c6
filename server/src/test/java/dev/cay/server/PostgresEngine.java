package dev.cay.server;

import dev.cay.server.store.Store;
import dev.cay.server.store.postgres.PostgresAddress;
import dev.cay.server.store.postgres.PostgresStore;
import dev.cay.testing.OwnPostgres;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/// A PostgreSQL server for the tests of one class. Its classes need root.
final class PostgresEngine implements BeforeAllCallback, AfterAllCallback {
    @SuppressWarnings("NullAway.Init")
    private OwnPostgres server;

    @SuppressWarnings("NullAway.Init")
    private Path directory;

    @Override
    public void beforeAll(ExtensionContext context) throws Exception {
        directory = Files.createTempDirectory("cay-postgres");
        server = OwnPostgres.start(directory.resolve("server"));
    }

    @Override
    public void afterAll(ExtensionContext context) throws Exception {
        server.close();
        try (var all = Files.walk(directory)) {
            for (var path : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        }
    }

    void empty() throws Exception {
        server.query("DROP SCHEMA public CASCADE; CREATE SCHEMA public");
    }

    Store open() {
        return PostgresStore.open(PostgresAddress.parse(server.url()), server.password(), 6);
    }
}
