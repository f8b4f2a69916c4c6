package dev.cay.server.store.sqlite;

import dev.cay.server.store.Transaction;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The one thread that writes. It commits all waiting transactions together, because the disk's flush is the expensive
/// part.
///
/// Each transaction has a savepoint, so a failing one rolls back only its own work; no caller gets a result before the
/// shared commit.
final class Writer implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Writer.class);
    private static final int GROUP = 256;
    private static final int WAITING = 10_000;

    private final BlockingQueue<Job<?>> waiting = new ArrayBlockingQueue<>(WAITING);
    private final Handle handle;
    private final Thread thread;
    private volatile boolean closed;

    private Writer(Handle handle) {
        this.handle = handle;
        this.thread = Thread.ofPlatform().daemon().name("store-writer").unstarted(this::loop);
    }

    /// @param handle closed with the writer
    static Writer start(Handle handle) {
        var writer = new Writer(handle);
        writer.thread.start();
        return writer;
    }

    <T> CompletableFuture<T> submit(Transaction<T> work) {
        var job = new Job<>(work, new CompletableFuture<T>());
        if (closed || !waiting.offer(job)) {
            throw unavailable(closed ? "the database is closed" : "the database has too much to write");
        }
        if (closed) {
            refuseWaiting();
        }
        return job.result;
    }

    /// Writes the waiting transactions, and refuses later ones.
    @Override
    public void close() {
        closed = true;
        thread.interrupt();
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        refuseWaiting();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void loop() {
        var group = new ArrayList<Job<?>>(GROUP);
        while (true) {
            try {
                group.add(waiting.take());
            } catch (InterruptedException e) {
                if (waiting.isEmpty()) {
                    break;
                }
            }
            waiting.drainTo(group, GROUP - group.size());
            write(group);
            group.clear();
            if (closed && waiting.isEmpty()) {
                break;
            }
        }
        handle.close();
    }

    private void write(List<Job<?>> group) {
        // An interrupt by close() would make the database's file calls fail.
        boolean interrupted = Thread.interrupted();
        try {
            handle.begin();
            for (var job : group) {
                job.run(handle);
            }
            handle.commit();
            group.forEach(Job::tell);
        } catch (Exception | Error e) {
            log.atError().setCause(e).addKeyValue("transactions", group.size()).log("could not commit");
            takeBack();
            group.forEach(job -> job.fail(e));
        }
        if (interrupted) {
            thread.interrupt();
        }
    }

    private void takeBack() {
        try {
            handle.rollback();
        } catch (Exception e) {
            log.atWarn().setCause(e).log("could not roll back");
        }
    }

    private void refuseWaiting() {
        Job<?> job;
        while ((job = waiting.poll()) != null) {
            job.result.completeExceptionally(unavailable("the database is closed"));
        }
    }

    private static CayException unavailable(String message) {
        return new CayException(ErrorKind.UNAVAILABLE, message);
    }

    /// One transaction with its result, which is returned only after the group's commit.
    private static final class Job<T> {
        private final Transaction<T> work;
        private final CompletableFuture<T> result;
        private @Nullable Throwable failure;
        private @Nullable T value;

        Job(Transaction<T> work, CompletableFuture<T> result) {
            this.work = work;
            this.result = result;
        }

        void run(Handle handle) {
            handle.execute("SAVEPOINT one");
            try {
                value = work.run(handle);
            } catch (Exception | Error e) {
                failure = e;
                handle.execute("ROLLBACK TO one");
            }
            handle.execute("RELEASE one");
        }

        @SuppressWarnings("NullAway") // T may be nullable, which a field cannot say
        void tell() {
            if (failure != null) {
                result.completeExceptionally(failure);
            } else {
                result.complete(value);
            }
        }

        void fail(Throwable shared) {
            Throwable known = SqliteFailure.translate(failure != null ? failure : shared);
            boolean told = failure != null || known instanceof CayException;
            result.completeExceptionally(told ? known : new CayException(ErrorKind.UNAVAILABLE, "not written", shared));
        }
    }
}
