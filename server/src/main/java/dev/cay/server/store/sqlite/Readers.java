package dev.cay.server.store.sqlite;

import dev.cay.server.store.Transaction;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jdbi.v3.core.Handle;

/// A few threads that read, each on a connection of its own.
final class Readers implements AutoCloseable {
    private static final int WAITING = 10_000;

    /// Opens one more connection.
    interface Source {
        Handle open() throws SQLException;
    }

    private final List<Handle> all = new ArrayList<>();
    private final BlockingQueue<Handle> idle;
    private final ThreadPoolExecutor threads;

    Readers(int count, Source source) throws SQLException {
        for (int i = 0; i < count; i++) {
            all.add(source.open());
        }
        idle = new ArrayBlockingQueue<>(count, false, all);
        threads = new ThreadPoolExecutor(
                count,
                count,
                1,
                TimeUnit.MINUTES,
                new ArrayBlockingQueue<>(WAITING),
                Thread.ofPlatform().daemon().name("store-reader-", 0).factory());
        threads.allowCoreThreadTimeOut(true);
    }

    <T> CompletableFuture<T> submit(Transaction<T> work) {
        var result = new CompletableFuture<T>();
        try {
            threads.execute(() -> run(work, result));
        } catch (RejectedExecutionException e) {
            throw new CayException(ErrorKind.UNAVAILABLE, "the database cannot be read now", e);
        }
        return result;
    }

    @Override
    public void close() {
        threads.close();
        all.forEach(Handle::close);
    }

    private <T> void run(Transaction<T> work, CompletableFuture<T> result) {
        // There are as many connections as threads, so one is always idle.
        Handle handle = idle.remove();
        try {
            result.complete(handle.inTransaction(work::run));
        } catch (Exception | Error e) {
            result.completeExceptionally(e);
        } finally {
            idle.add(handle);
        }
    }
}
