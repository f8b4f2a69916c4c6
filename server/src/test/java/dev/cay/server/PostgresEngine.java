package dev.cay.server;

import dev.cay.life.Trees;
import dev.cay.server.store.Store;
import dev.cay.server.store.postgres.PostgresAddress;
import dev.cay.server.store.postgres.PostgresStore;
import dev.cay.testing.OwnPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/// A PostgreSQL server for all tests of this process, with a database that is new for each test. Its classes need root.
///
/// The tables are made once, in a database that is copied for each test: to make them takes longer than most tests.
public final class PostgresEngine {
    private static @Nullable OwnPostgres server;

    private PostgresEngine() {}

    /// Begins a test: the database has empty tables.
    public static synchronized void empty() throws IOException, InterruptedException {
        var running = server;
        if (running == null) {
            running = start();
            open(running).close();
            running.keepDatabase();
            server = running;
        }
        running.renewDatabase();
    }

    /// Opens the database of this test.
    public static synchronized Store open() {
        if (server == null) {
            throw new IllegalStateException("call empty() first");
        }
        return open(server);
    }

    /// A server on a database with empty tables.
    static TestServer begin(Path directory) throws IOException, InterruptedException {
        empty();
        return TestServer.on(open(), directory, new FakeNode(), new FakeClock(), "");
    }

    /// Another run of the server on the same database, files and node.
    static TestServer again(Path directory, TestServer before) throws IOException {
        return TestServer.on(open(), directory, before.node, before.clock, before.key);
    }

    /// Fills the database of this test by SQL that makes its tables, too.
    static void restore(String script) throws IOException, InterruptedException, SQLException {
        empty();
        try (var connection = connect();
                var statement = connection.createStatement()) {
            statement.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public");
            statement.execute(script);
        }
    }

    /// A connection of the test's own.
    static synchronized Connection connect() throws SQLException {
        if (server == null) {
            throw new IllegalStateException("call empty() first");
        }
        var address = PostgresAddress.parse(server.url());
        String url = server.url().replaceFirst("^[^@]*@", "jdbc:postgresql://");
        return DriverManager.getConnection(url, address.user(), server.password());
    }

    private static Store open(OwnPostgres running) {
        return PostgresStore.open(PostgresAddress.parse(running.url()), running.password(), 6);
    }

    private static OwnPostgres start() throws IOException, InterruptedException {
        var directory = Files.createTempDirectory("cay-postgres");
        var started = OwnPostgres.start(directory.resolve("server"));
        Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(started, directory), "stop-postgres"));
        return started;
    }

    private static void stop(OwnPostgres running, Path directory) {
        running.close();
        try {
            Trees.delete(directory);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
