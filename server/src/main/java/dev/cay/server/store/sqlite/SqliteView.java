package dev.cay.server.store.sqlite;

import dev.cay.server.store.StoreView;
import dev.cay.server.store.Transaction;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jdbi.v3.core.Handle;

/// A read transaction on a connection and a thread of its own. SQLite keeps the pages that it sees until it is closed.
final class SqliteView implements StoreView {
    private static final Duration LIMIT = Duration.ofSeconds(10);

    private final Handle handle;
    private final ThreadPoolExecutor thread = new ThreadPoolExecutor(
            1,
            1,
            0,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            Thread.ofPlatform().daemon().name("store-view").factory());

    /// @param handle becomes this view's own
    SqliteView(Handle handle) {
        this.handle = handle;
        run(first -> {
            first.begin();
            // The transaction's view is that of its first statement.
            return first.createQuery("SELECT count(*) FROM sqlite_master")
                    .mapTo(Long.class)
                    .one();
        });
    }

    @Override
    public <T> T read(Transaction<T> work) {
        return run(work);
    }

    private <T> T run(Transaction<T> work) {
        var result = new CompletableFuture<T>();
        thread.execute(() -> {
            try {
                result.complete(work.run(handle));
            } catch (Exception | Error e) {
                result.completeExceptionally(e);
            }
        });
        return SqliteAnswer.await(result);
    }

    @Override
    public void close() {
        thread.execute(handle::close);
        thread.shutdown();
        try {
            thread.awaitTermination(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
