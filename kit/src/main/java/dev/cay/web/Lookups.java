package dev.cay.web;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetAddress;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;

/// Looks names up, each on a platform thread of its own: the resolver of the host blocks, and would block a carrier of
/// virtual threads. The number of threads is limited, so lookups that never return cannot use up the machine.
final class Lookups implements AutoCloseable {
    private static final int RUNNING = 32;
    private static final int WAITING = 64;

    /// One lookup.
    interface Question {
        List<InetAddress> ask() throws IOException;
    }

    private final Semaphore running = new Semaphore(RUNNING);
    private final AtomicInteger callers = new AtomicInteger();
    private volatile boolean closed;

    /// @param limit for the wait for a thread and for the answer together
    List<InetAddress> call(Duration limit, Question question) throws IOException {
        if (closed) {
            throw new CayException(ErrorKind.UNAVAILABLE, "the daemon is stopping");
        }
        if (callers.incrementAndGet() > RUNNING + WAITING) {
            callers.decrementAndGet();
            throw new CayException(ErrorKind.UNAVAILABLE, "too many names are being looked up; try again");
        }
        long deadline = System.nanoTime() + limit.toNanos();
        try {
            return await(start(deadline, question), deadline);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw (IOException) new InterruptedIOException("interrupted").initCause(e);
        } finally {
            callers.decrementAndGet();
        }
    }

    private FutureTask<List<InetAddress>> start(long deadline, Question question)
            throws InterruptedException, IOException {
        if (!running.tryAcquire(deadline - System.nanoTime(), TimeUnit.NANOSECONDS)) {
            throw late();
        }
        var task = new FutureTask<>(() -> {
            try {
                return question.ask();
            } finally {
                running.release();
            }
        });
        Thread.ofPlatform().daemon().name("cay-names").start(task);
        return task;
    }

    private static List<InetAddress> await(FutureTask<List<InetAddress>> task, long deadline)
            throws InterruptedException, IOException {
        try {
            return task.get(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException _) {
            throw late();
        } catch (ExecutionException e) {
            switch (e.getCause()) {
                case IOException failed -> throw failed;
                case RuntimeException failed -> throw failed;
                case Error failed -> throw failed;
                case null, default -> throw new IOException(e.getCause());
            }
        }
    }

    private static SocketTimeoutException late() {
        return new SocketTimeoutException("the name was not looked up in time");
    }

    /// Lookups under way end by themselves; later ones are refused.
    @Override
    public void close() {
        closed = true;
    }
}
