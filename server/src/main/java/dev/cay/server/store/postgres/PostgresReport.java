package dev.cay.server.store.postgres;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Facts about a server: whether acknowledged commits survive a crash, and why it cannot be used.
///
/// @param version  of the server
/// @param tls      whether the connection is encrypted
/// @param dangers  sentences about settings that can lose acknowledged commits
/// @param standbys whether a commit waits for a standby, so that a promoted one has it
public record PostgresReport(String version, boolean tls, List<String> dangers, boolean standbys) {
    public PostgresReport {
        dangers = List.copyOf(dangers);
    }

    /// Queries a server, without changing anything there.
    ///
    /// @param password null where the server asks for none
    /// @throws CayException with the reason when it cannot be reached or refuses the login
    public static PostgresReport of(PostgresAddress address, @Nullable String password) {
        try (var connections = new Connections(address, password, 1);
                var connection = connections.take()) {
            return of(connection);
        } catch (SQLException | RuntimeException e) {
            throw cannotOpen(address, e);
        }
    }

    static PostgresReport of(Connection connection) throws SQLException {
        try (var statement = connection.createStatement();
                var row = statement.executeQuery("""
                        SELECT current_setting('server_version'), current_setting('fsync'),
                               current_setting('full_page_writes'), current_setting('synchronous_commit'),
                               current_setting('synchronous_standby_names'),
                               coalesce((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false),
                               (SELECT coalesce(reset_val, '') FROM pg_settings WHERE name = 'synchronous_commit')
                        """)) {
            row.next();
            return new PostgresReport(
                    row.getString(1),
                    row.getBoolean(6),
                    dangers(row.getString(2), row.getString(3), row.getString(7)),
                    !row.getString(5).isBlank() && !row.getString(4).equals("local"));
        }
    }

    static CayException cannotOpen(PostgresAddress address, Exception cause) {
        return new CayException(
                ErrorKind.UNAVAILABLE, "the database %s cannot be opened: %s".formatted(address, reason(cause)), cause);
    }

    /// The first line of the innermost cause, because outer ones only say what was being tried.
    private static String reason(Throwable failure) {
        String state = "";
        String text = "no reason given";
        for (Throwable each = failure; each != null; each = each.getCause()) {
            if (each.getMessage() != null) {
                text = each.getMessage().lines().findFirst().orElse(text).strip();
            }
            if (each instanceof SQLException known && known.getSQLState() != null) {
                state = known.getSQLState();
            }
        }
        return switch (state) {
            case "42501" ->
                text + "; its user needs the right to create tables: GRANT CREATE, USAGE ON SCHEMA public TO the user";
            case "28P01", "28000" -> text + "; is the right password in the file of store.passwordFile?";
            default -> text;
        };
    }

    private static List<String> dangers(String fsync, String pages, String commit) {
        var dangers = new ArrayList<String>();
        if (fsync.equals("off")) {
            dangers.add("fsync is off: a crash of the database's machine loses or damages records");
        }
        if (pages.equals("off")) {
            dangers.add("full_page_writes is off: a crash of the database's machine can damage records");
        }
        if (commit.equals("off")) {
            dangers.add("synchronous_commit is off: Cay turns it on for its own connections");
        }
        return dangers;
    }
}
