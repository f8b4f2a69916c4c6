package dev.cay.server.store.sqlite;

import dev.cay.life.RootOnly;
import dev.cay.server.store.SharedParser;
import dev.cay.server.store.Store;
import dev.cay.server.store.StoreView;
import dev.cay.server.store.Transaction;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.Properties;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jspecify.annotations.Nullable;
import org.sqlite.SQLiteConfig;
import org.sqlite.SQLiteDataSource;

/// A SQLite file in WAL mode.
///
/// Callers are virtual threads, SQLite is native code with file waits: it runs only on the store's own platform
/// threads, as it would hold a carrier otherwise.
public final class SqliteStore implements Store {
    private static final int READERS = 4;
    private static final long CHECKED_BYTES = 64L << 20;

    private final Path file;
    private final Writer writer;
    private final Readers readers;

    private SqliteStore(Path file, Writer writer, Readers readers) {
        this.file = file;
        this.writer = writer;
        this.readers = readers;
    }

    /// Opens the file, made when absent, and brings its tables up to date.
    public static SqliteStore open(Path file) {
        try {
            Path whole = file.toAbsolutePath();
            Files.createDirectories(whole.resolveSibling(""));
            SqliteLibrary.load(whole.resolveSibling(whole.getFileName() + "-native"));
            requireWhole(file);
            // SQLite gives its other files the permissions of this one.
            RootOnly.file(file);
            new SqliteSchema(source(file, false), file).bringUpToDate();
            return new SqliteStore(
                    file, Writer.start(connect(file, false)), new Readers(READERS, () -> connect(file, true)));
        } catch (CayException e) {
            throw e;
        } catch (SQLException | IOException | RuntimeException e) {
            throw cannotOpen(file, e);
        }
    }

    /// Checks the file, because damage would otherwise show only when the damaged part is read. Large files are not
    /// checked; that is left to the operator.
    private static void requireWhole(Path file) throws SQLException, IOException {
        if (!Files.exists(file) || Files.size(file) > CHECKED_BYTES) {
            return;
        }
        try (var connection = source(file, false).getConnection();
                var statement = connection.createStatement();
                var rows = statement.executeQuery("PRAGMA quick_check(1)")) {
            if (rows.next() && !rows.getString(1).equals("ok")) {
                throw damaged(file, null);
            }
        }
    }

    private static CayException cannotOpen(Path file, Exception cause) {
        if (SqliteFailure.isDamage(cause)) {
            return damaged(file, cause);
        }
        String why = SqliteFailure.translate(cause) instanceof CayException known
                ? known.userMessage()
                : String.valueOf(cause.getMessage()).lines().findFirst().orElse("no reason given");
        return new CayException(
                ErrorKind.UNAVAILABLE, "the database %s cannot be opened: %s".formatted(file, why), cause);
    }

    private static CayException damaged(Path file, @Nullable Exception cause) {
        return new CayException(
                ErrorKind.UNAVAILABLE,
                "the database %s is damaged; put back a copy of it, or move it away to begin with an empty one (sandboxes that run would then be ended)"
                        .formatted(file),
                cause);
    }

    @Override
    public <T> T write(Transaction<T> work) {
        return SqliteAnswer.await(writer.submit(work));
    }

    @Override
    public <T> T read(Transaction<T> work) {
        return SqliteAnswer.await(readers.submit(work));
    }

    @Override
    public StoreView view() {
        try {
            return new SqliteView(connect(file, true));
        } catch (SQLException e) {
            throw cannotOpen(file, e);
        }
    }

    @Override
    public boolean isShared() {
        return false;
    }

    @Override
    public void close() {
        readers.close();
        writer.close();
    }

    private static Handle connect(Path file, boolean readOnly) throws SQLException {
        var handle = SharedParser.setOn(Jdbi.create(source(file, readOnly))).open();
        if (readOnly) {
            handle.execute("PRAGMA query_only = ON");
        }
        return handle;
    }

    private static SQLiteDataSource source(Path file, boolean readOnly) {
        var config = new SQLiteConfig(new Properties());
        config.setJournalMode(SQLiteConfig.JournalMode.WAL);
        config.setSynchronous(SQLiteConfig.SynchronousMode.FULL);
        config.setBusyTimeout(10_000);
        config.enforceForeignKeys(true);
        if (!readOnly) {
            // A deferred transaction that reads first can fail when it comes to write.
            config.setTransactionMode(SQLiteConfig.TransactionMode.IMMEDIATE);
        }
        var source = new SQLiteDataSource(config);
        source.setUrl("jdbc:sqlite:" + file.toAbsolutePath());
        return source;
    }
}
