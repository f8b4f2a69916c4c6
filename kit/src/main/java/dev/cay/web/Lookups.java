package dev.cay.web;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetAddress;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/// Looks names up, each on a platform thread of its own: the resolver of the host blocks, and would block a carrier
/// of virtual threads. The number of threads is limited, so lookups that never return cannot use up the machine.
///
/// Some lookups are for an owner, who chose the name. The fewer threads are free, the fewer one owner may have, so
/// that names that nobody answers for hold up their owner alone. Thread-safe.
final class Lookups implements AutoCloseable {
    private static final int RUNNING = 128;
    private static final int RUNNING_OF_OWNER = 8;
    private static final int CALLERS = 512;
    private static final int CALLERS_OF_OWNER = 16;

    /// One lookup.
    interface Question {
        List<InetAddress> ask() throws IOException;
    }

    private final Map<String, Integer> running = new HashMap<>();
    private final Map<String, Integer> callers = new HashMap<>();
    private int allRunning;
    private int allCallers;
    private volatile boolean closed;

    /// @param limit for the wait for a thread and for the answer together
    /// @param owner who chose the name; null for nobody that others must be protected from
    List<InetAddress> call(Duration limit, @Nullable String owner, Question question) throws IOException {
        if (closed) {
            throw new CayException(ErrorKind.UNAVAILABLE, "the daemon is stopping");
        }
        long deadline = System.nanoTime() + limit.toNanos();
        enter(owner);
        try {
            return await(start(deadline, owner, question), deadline);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw (IOException) new InterruptedIOException("interrupted").initCause(e);
        } finally {
            leave(owner);
        }
    }

    private synchronized void enter(@Nullable String owner) {
        if (allCallers >= CALLERS || (owner != null && callers.getOrDefault(owner, 0) >= CALLERS_OF_OWNER)) {
            throw new CayException(ErrorKind.UNAVAILABLE, "too many names are being looked up; try again");
        }
        allCallers++;
        if (owner != null) {
            callers.merge(owner, 1, Integer::sum);
        }
    }

    private synchronized void leave(@Nullable String owner) {
        allCallers--;
        if (owner != null) {
            callers.computeIfPresent(owner, (_, count) -> count > 1 ? count - 1 : null);
        }
    }

    private FutureTask<List<InetAddress>> start(long deadline, @Nullable String owner, Question question)
            throws InterruptedException, IOException {
        take(deadline, owner);
        var task = new FutureTask<>(() -> {
            try {
                return question.ask();
            } finally {
                release(owner);
            }
        });
        Thread.ofPlatform().daemon().name("cay-names").start(task);
        return task;
    }

    private synchronized void take(long deadline, @Nullable String owner) throws InterruptedException, IOException {
        while (!isFree(owner)) {
            long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
            if (left <= 0) {
                throw late();
            }
            wait(left);
        }
        allRunning++;
        if (owner != null) {
            running.merge(owner, 1, Integer::sum);
        }
    }

    private boolean isFree(@Nullable String owner) {
        int free = RUNNING - allRunning;
        if (owner == null) {
            return free > 0;
        }
        int own = running.getOrDefault(owner, 0);
        return free > 0 && own < Math.clamp((free + own) / 4, 1, RUNNING_OF_OWNER);
    }

    private synchronized void release(@Nullable String owner) {
        allRunning--;
        if (owner != null) {
            running.computeIfPresent(owner, (_, count) -> count > 1 ? count - 1 : null);
        }
        notifyAll();
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
