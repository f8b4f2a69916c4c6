package dev.cay.server.store.sqlite;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/// Waits for the result of a store thread.
final class SqliteAnswer {
    /// Generous: a queue this slow means a dying disk, and an answer is better than a hang.
    private static final Duration LIMIT = Duration.ofSeconds(30);

    private SqliteAnswer() {}

    static <T> T await(CompletableFuture<T> result) {
        try {
            return result.get(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            throw asUnchecked(e.getCause() == null ? e : e.getCause());
        } catch (TimeoutException e) {
            throw new CayException(ErrorKind.DEADLINE_EXCEEDED, "the database did not answer within " + LIMIT, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CayException(ErrorKind.CANCELED, "interrupted while waiting for the database", e);
        }
    }

    /// The caller's own exceptions pass with their type; the trace is that of the store's thread, which ran the work.
    private static RuntimeException asUnchecked(Throwable failure) {
        return switch (SqliteFailure.translate(failure)) {
            case RuntimeException e -> e;
            case Error e -> throw e;
            case Throwable e -> new CayException(ErrorKind.INTERNAL, "the database refused the work", e);
        };
    }
}
