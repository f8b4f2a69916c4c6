package dev.cay.server.store.sqlite;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.util.Optional;
import org.sqlite.SQLiteException;

/// Describes a failing disk or file in one sentence; other failures are passed through.
final class SqliteFailure {
    private static final int PRIMARY = 0xff;

    private SqliteFailure() {}

    static Throwable translate(Throwable failure) {
        return find(failure)
                .flatMap(cause ->
                        sentence(cause).<Throwable>map(text -> new CayException(ErrorKind.UNAVAILABLE, text, failure)))
                .orElse(failure);
    }

    /// Whether the file is not, or no longer, a database.
    static boolean isDamage(Throwable failure) {
        return find(failure).filter(cause -> isDamage(code(cause))).isPresent();
    }

    private static Optional<String> sentence(SQLiteException failure) {
        return switch (code(failure)) {
            case 13 -> Optional.of("the disk with the database is full, nothing was written; free space on it");
            case 10 ->
                Optional.of("the disk with the database cannot be read or written, or is full; nothing was written");
            case 8 -> Optional.of("the database may not be written; its disk is mounted read-only, or is not Cay's");
            case 11, 26 -> Optional.of("the database is damaged; stop Cay and put back a copy");
            default -> Optional.empty();
        };
    }

    private static boolean isDamage(int code) {
        return code == 11 || code == 26;
    }

    private static int code(SQLiteException failure) {
        return failure.getResultCode().code & PRIMARY;
    }

    private static Optional<SQLiteException> find(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof SQLiteException known) {
                return Optional.of(known);
            }
        }
        return Optional.empty();
    }
}
