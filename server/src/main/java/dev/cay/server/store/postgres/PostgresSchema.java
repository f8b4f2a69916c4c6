package dev.cay.server.store.postgres;

import dev.cay.server.store.Migrations;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The tables, brought up to date by Flyway when an older Cay made them. Whoever runs the server has copies of it, so
/// none is made here.
final class PostgresSchema {
    private static final Logger log = LoggerFactory.getLogger(PostgresSchema.class);
    static final int OLDEST_SERVER = 15;

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
        log.atInfo().addKeyValue("from", has).addKeyValue("to", knows).log("brought the tables up to date");
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

    /// Of the tables in the database; 0 when it has none.
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
