package dev.cay.server.store.sqlite;

import dev.cay.server.store.Migrations;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.SQLException;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.TreeMap;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Brings the tables up to date with Flyway, which is used only when there is something to do: loading it takes longer
/// than the rest of opening a database.
///
/// A checksum of all migrations is stored in the file. A new or changed migration, or a file that another version
/// wrote, has another checksum, and then Flyway runs; also after a crash before the checksum was written.
///
/// The oldest version that can work with the tables is stored too, so that the previous version of Cay does not refuse
/// them.
///
/// Before tables change, the file is copied to `cay.db.before-vN`, with which the previous version of Cay can continue.
final class SqliteSchema {
    private static final Logger log = LoggerFactory.getLogger(SqliteSchema.class);
    private static final int COPIES = 3;
    private final DataSource source;
    private final Path file;
    private final Migrations migrations;

    /// @param file the database's own, for copies of it
    SqliteSchema(DataSource source, Path file) {
        this(source, file, Migrations.PORTABLE);
    }

    /// With other migrations, as an older or a newer Cay has them.
    SqliteSchema(DataSource source, Path file, Migrations migrations) {
        this.source = source;
        this.file = file.toAbsolutePath();
        this.migrations = migrations;
    }

    /// @return whether Flyway was asked
    boolean bringUpToDate() throws SQLException, IOException {
        int wanted = migrations.fingerprint();
        if (found() == wanted) {
            return false;
        }
        int has = version();
        int knows = migrations.version();
        if (has > knows && isReadable(knows)) {
            log.atWarn()
                    .addKeyValue("has", has)
                    .addKeyValue("knows", knows)
                    .log("a newer Cay has extended the tables; this version ignores the extensions");
            return false;
        }
        if (has > knows) {
            throw newer(has, knows);
        }
        if (has > 0 && has < knows) {
            copy(knows);
        }
        migrations.apply(source);
        try (var connection = source.getConnection();
                var statement = connection.createStatement()) {
            statement.execute("PRAGMA application_id = " + migrations.readableFrom());
            statement.execute("PRAGMA user_version = " + wanted);
        }
        return true;
    }

    private CayException newer(int has, int knows) throws IOException {
        var copies = copies().tailMap(knows + 1, true);
        String fix = copies.isEmpty()
                ? "there is no copy %s to go back to".formatted(copyBefore(knows + 1))
                : "or go back to the day of the upgrade with %s: while Cay is down, delete %s-wal and %s-shm and copy it to %s"
                        .formatted(copies.firstEntry().getValue(), file, file, file);
        return new CayException(
                ErrorKind.CONFLICT,
                "the database %s was written by a newer Cay (its tables have version %d, this Cay knows up to %d); use the newer Cay, %s"
                        .formatted(file, has, knows, fix));
    }

    /// Copies in one transaction of SQLite's own, so that the copy is consistent.
    private void copy(int knows) throws SQLException, IOException {
        Path copy = copyBefore(knows);
        Path fresh = copy.resolveSibling(copy.getFileName() + ".new");
        Files.deleteIfExists(fresh);
        Files.createFile(fresh, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        try (var connection = source.getConnection();
                var statement = connection.prepareStatement("VACUUM INTO ?")) {
            statement.setString(1, fresh.toString());
            statement.execute();
        }
        Files.move(fresh, copy, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        log.atInfo().addKeyValue("copy", copy).log("copied the database before its tables change");
        forgetOldCopies();
    }

    private Path copyBefore(int version) {
        return file.resolveSibling("%s.before-v%d".formatted(file.getFileName(), version));
    }

    private void forgetOldCopies() throws IOException {
        for (Path old : copies().descendingMap().values().stream().skip(COPIES).toList()) {
            Files.delete(old);
        }
    }

    /// The copies, by the version of the tables before which each was made.
    private NavigableMap<Integer, Path> copies() throws IOException {
        var pattern = Pattern.compile(Pattern.quote(file.getFileName().toString()) + "\\.before-v(\\d+)");
        var copies = new TreeMap<Integer, Path>();
        try (var files = Files.list(Objects.requireNonNull(file.getParent()))) {
            files.forEach(each -> {
                var name = pattern.matcher(each.getFileName().toString());
                if (name.matches()) {
                    copies.put(Integer.parseInt(name.group(1)), each);
                }
            });
        }
        return copies;
    }

    /// The version of the tables in the file; 0 when it has none.
    private int version() throws SQLException {
        try (var connection = source.getConnection();
                var statement = connection.createStatement()) {
            try (var tables = statement.executeQuery(
                    "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'flyway_schema_history'")) {
                if (!tables.next()) {
                    return 0;
                }
            }
            try (var rows = statement.executeQuery(
                    "SELECT max(CAST(version AS INTEGER)) FROM flyway_schema_history WHERE success = 1")) {
                return rows.next() ? rows.getInt(1) : 0;
            }
        }
    }

    private int found() throws SQLException {
        return number("PRAGMA user_version");
    }

    /// Whether a newer Cay has left the tables so that this one can work with them.
    private boolean isReadable(int knows) throws SQLException {
        int from = number("PRAGMA application_id");
        return from > 0 && from <= knows;
    }

    private int number(String pragma) throws SQLException {
        try (var connection = source.getConnection();
                var statement = connection.createStatement();
                var rows = statement.executeQuery(pragma)) {
            return rows.next() ? rows.getInt(1) : 0;
        }
    }
}
