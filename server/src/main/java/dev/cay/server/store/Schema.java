package dev.cay.server.store;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.sql.SQLException;
import java.util.List;
import java.util.zip.CRC32;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;

/// The tables, brought up to date by Flyway, which is asked only when there is something to do: loading it takes longer
/// than all the rest of opening a database.
///
/// A number made of all migrations is left in the file. A new migration, a changed one, or a file that another version
/// wrote gives another number, and then Flyway looks; so it does when a crash came before the number was written.
final class Schema {
    private static final String DIRECTORY = "dev/cay/server/store/migrations";

    /// All files of the directory in their order; a test compares.
    static final List<String> MIGRATIONS = List.of("V1__first_house.sql");

    private final DataSource source;

    Schema(DataSource source) {
        this.source = source;
    }

    /// @return whether Flyway was asked
    boolean bringUpToDate() throws SQLException, IOException {
        int wanted = fingerprint();
        if (found() == wanted) {
            return false;
        }
        migrate();
        try (var connection = source.getConnection();
                var statement = connection.createStatement()) {
            statement.execute("PRAGMA user_version = " + wanted);
        }
        return true;
    }

    /// The seam for a copy of the file before its tables change.
    private void migrate() {
        Flyway.configure()
                .dataSource(source)
                .locations("classpath:" + DIRECTORY)
                .load()
                .migrate();
    }

    private int found() throws SQLException {
        try (var connection = source.getConnection();
                var statement = connection.createStatement();
                var rows = statement.executeQuery("PRAGMA user_version")) {
            return rows.next() ? rows.getInt(1) : 0;
        }
    }

    /// Never 0, which is what a new file has.
    private static int fingerprint() throws IOException {
        var sum = new CRC32();
        for (String name : MIGRATIONS) {
            try (var text = Schema.class.getClassLoader().getResourceAsStream(DIRECTORY + "/" + name)) {
                if (text == null) {
                    throw new FileNotFoundException(name + " is not in this build");
                }
                sum.update(text.readAllBytes());
            }
        }
        int value = (int) sum.getValue();
        return value == 0 ? 1 : value;
    }
}
