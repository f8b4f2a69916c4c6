package dev.cay.server.store.postgres;

import dev.cay.server.store.Migrations;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Brings the tables up to date with Flyway. Makes no copy before, because the operator of the server has backups.
final class PostgresSchema {
    private static final Logger log = LoggerFactory.getLogger(PostgresSchema.class);
    static final int OLDEST_SERVER = 15;

    /// Left in the database: the oldest version of tables that a Cay must know to work with them.
    private static final String READABLE_FROM = "readable from version ";

    private final DataSource source;
    private final PostgresAddress address;
    private final Migrations migrations;

    PostgresSchema(DataSource source, PostgresAddress address) {
        this(source, address, Migrations.POSTGRES);
    }

    /// With other migrations, as an older or a newer Cay has them.
    PostgresSchema(DataSource source, PostgresAddress address, Migrations migrations) {
        this.source = source;
        this.address = address;
        this.migrations = migrations;
    }

    /// @return whether tables changed
    boolean bringUpToDate() throws SQLException {
        requireNewEnough();
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
            throw new CayException(
                    ErrorKind.CONFLICT,
                    "the database %s was written by a newer Cay (its tables have version %d, this Cay knows up to %d); use the newer Cay, or restore a copy of the database from before the upgrade"
                            .formatted(address, has, knows));
        }
        if (has == knows) {
            return false;
        }
        migrations.apply(source);
        try (var connection = source.getConnection();
                var statement = connection.createStatement()) {
            statement.execute("COMMENT ON TABLE flyway_schema_history IS '%s%d'"
                    .formatted(READABLE_FROM, migrations.readableFrom()));
        }
        log.atInfo().addKeyValue("from", has).addKeyValue("to", knows).log("migrated the tables of the database");
        return true;
    }

    private void requireNewEnough() throws SQLException {
        try (var connection = source.getConnection()) {
            int version = connection.getMetaData().getDatabaseMajorVersion();
            if (version < OLDEST_SERVER) {
                throw new CayException(
                        ErrorKind.UNAVAILABLE,
                        "the database %s is PostgreSQL %d; Cay needs %d or newer"
                                .formatted(address, version, OLDEST_SERVER));
            }
        }
    }

    /// Whether a newer Cay has left the tables so that this one can work with them.
    private boolean isReadable(int knows) throws SQLException {
        try (var connection = source.getConnection();
                var statement = connection.createStatement();
                var rows = statement.executeQuery("SELECT obj_description(to_regclass('flyway_schema_history'))")) {
            String note = rows.next() ? rows.getString(1) : null;
            return note != null
                    && note.matches(READABLE_FROM + "\\d{1,6}")
                    && Integer.parseInt(note.substring(READABLE_FROM.length())) <= knows;
        }
    }

    /// The version of the tables in the database; 0 when it has none.
    private int version() throws SQLException {
        try (var connection = source.getConnection();
                var statement = connection.createStatement()) {
            try (var tables = statement.executeQuery("SELECT to_regclass('flyway_schema_history')")) {
                if (!tables.next() || tables.getString(1) == null) {
                    return 0;
                }
            }
            try (var rows = statement.executeQuery(
                    "SELECT max(CAST(version AS INTEGER)) FROM flyway_schema_history WHERE success")) {
                return rows.next() ? rows.getInt(1) : 0;
            }
        }
    }
}
