package dev.cay.server.store.postgres;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.util.Optional;

/// Classifies a database failure: retry now, retry later, or a mistake of the caller.
enum PostgresFailure {
    /// A conflict with another transaction. Nothing was written, and the same transaction can be retried at once.
    CONFLICT,
    /// The connection broke, or the server stops. Another connection may do.
    AWAY,
    /// Nothing can be written: the server has become a standby, or the transaction is read-only.
    READ_ONLY,
    /// The server has no disk space for the data.
    FULL,
    /// The work itself is wrong, or not allowed.
    OTHER;

    static PostgresFailure of(Throwable failure) {
        var known = find(failure);
        if (known.isEmpty()) {
            return OTHER;
        }
        if (known.get() instanceof SQLTransientConnectionException) {
            return AWAY;
        }
        String state = known.get().getSQLState();
        if (state == null) {
            return OTHER;
        }
        return switch (state) {
            // A serialization failure, a deadlock, a lock that was not to be had in time.
            case "40001", "40P01", "55P03" -> CONFLICT;
            // The server is stopping or starting.
            case "57P01", "57P02", "57P03" -> AWAY;
            case "25006" -> READ_ONLY;
            case "53100", "53200" -> FULL;
            case "53300" -> AWAY;
            default -> state.startsWith("08") ? AWAY : OTHER;
        };
    }

    /// The sentence a client gets, where there is a better one than the server's.
    static Throwable translate(Throwable failure) {
        return switch (of(failure)) {
            case CONFLICT -> unavailable("the database is too busy with the same record; try again", failure);
            case AWAY, READ_ONLY -> unavailable("the database cannot be reached; try again in a moment", failure);
            case FULL -> unavailable("the database has no room left, nothing was written", failure);
            case OTHER -> failure;
        };
    }

    private static CayException unavailable(String text, Throwable cause) {
        return new CayException(ErrorKind.UNAVAILABLE, text, cause);
    }

    private static Optional<SQLException> find(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof SQLException known) {
                return Optional.of(known);
            }
        }
        return Optional.empty();
    }
}
