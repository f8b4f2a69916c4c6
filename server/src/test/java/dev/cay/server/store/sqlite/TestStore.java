package dev.cay.server.store.sqlite;

import dev.cay.server.store.Store;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// SQLite stores for tests. Each process makes the tables once, in a file that it copies for each new store: to make
/// them takes longer than most tests.
public final class TestStore {
    private static final Path TABLES = makeTables();

    private TestStore() {}

    /// Opens a store; one that is not there yet gets empty tables.
    public static Store open(Path file) {
        try {
            if (!Files.exists(file)) {
                Files.copy(TABLES, file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return SqliteStore.open(file);
    }

    private static Path makeTables() {
        try {
            var directory = Files.createTempDirectory("cay-tables");
            var file = directory.resolve("cay.db");
            SqliteStore.open(file).close();
            directory.toFile().deleteOnExit();
            file.toFile().deleteOnExit();
            return file;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
