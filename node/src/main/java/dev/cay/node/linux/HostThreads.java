package dev.cay.node.linux;

import dev.cay.life.WaitLimits;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.NoSuchFileException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A few platform threads for what may block, or what binds an OS thread: file work, namespaces, file system uids.
///
/// Not an executor of the JDK, because those start a replacement from the thread that failed, and a thread started from
/// one that changed its namespace or credentials inherits them. Here only callers start threads; an action that could
/// not put its thread back throws {@link Tainted} and the thread ends. A thread that does not come back from its action
/// in time is replaced too, within reason: root in a sandbox has ways to make a call on a borrowed descriptor hang.
///
/// Callers that work for an owner use its {@link Share}: however much one owner asks for, others get their turns.
public final class HostThreads implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(HostThreads.class);

    /// Work for a thread. A result that is `AutoCloseable` is closed if the caller has stopped waiting.
    public interface Action<T extends @Nullable Object> {
        T run() throws IOException;
    }

    /// Thrown to end a thread whose state (such as its namespace) could not be restored.
    static final class Tainted extends Error {
        Tainted(Throwable cause) {
            super("thread could not be put back", cause);
        }
    }

    /// Callers that wait for at least so long share one timer.
    private static final Duration LONG = Duration.ofSeconds(1);

    private enum State {
        WAITING,
        RUNNING,
        DONE,
        LOST
    }

    /// The threads as far as one owner may have them.
    ///
    /// @param owner may change, as a sandbox that is started in advance has no owner at first
    public record Share(HostThreads threads, Supplier<String> owner) {
        /// As {@link HostThreads#call}, in the owner's turn.
        public <T extends @Nullable Object> T call(Duration limit, Action<T> action) throws IOException {
            return threads.call(owner.get(), limit, action);
        }
    }

    private final String name;
    private final int size;
    private final JobQueue<Job<?>> queue;
    private final AtomicInteger alive = new AtomicInteger();
    private final AtomicInteger lost = new AtomicInteger();
    private final WaitLimits limits = new WaitLimits();
    private volatile boolean closed;

    /// @param patience how many actions may wait; a caller that would wait behind more is refused as UNAVAILABLE
    public HostThreads(String name, int size, int patience) {
        this.name = name;
        this.size = size;
        this.queue = new JobQueue<>(size, patience);
    }

    /// The threads for one owner.
    public Share shareOf(Supplier<String> owner) {
        return new Share(this, owner);
    }

    /// Runs the action on one of the threads and waits for it, at most `limit`.
    public <T extends @Nullable Object> T call(Duration limit, Action<T> action) throws IOException {
        return call(JobQueue.NOBODY, limit, action);
    }

    private <T extends @Nullable Object> T call(String owner, Duration limit, Action<T> action) throws IOException {
        if (!queue.hasRoom(owner)) {
            throw new CayException(
                    ErrorKind.UNAVAILABLE, "too much work is waiting for the %s threads".formatted(name));
        }
        var job = new Job<>(owner, action);
        submit(job);
        return job.await(limit);
    }

    /// Runs the action soon, without a result. Its failure is logged. Never refused while the node runs, because
    /// callers have a bounded number of tasks.
    public Job<?> run(Action<?> action) {
        var job = new Job<>(JobQueue.NOBODY, action);
        job.abandoned = true;
        submit(job);
        return job;
    }

    private void submit(Job<?> job) {
        if (closed) {
            throw new CayException(ErrorKind.UNAVAILABLE, "the node is stopping");
        }
        queue.add(job.owner, job);
        startMissing();
    }

    /// Starts missing threads. Called by callers, never by the threads themselves.
    private void startMissing() {
        while (true) {
            int now = alive.get();
            if (now >= size || closed) {
                return;
            }
            if (alive.compareAndSet(now, now + 1)) {
                Thread.ofPlatform().daemon().name(name).start(this::work);
                return;
            }
        }
    }

    private void work() {
        boolean counted = true;
        try {
            while (counted && !closed) {
                var job = queue.take();
                try {
                    counted = job.work();
                } finally {
                    queue.done(job.owner, counted);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (Tainted e) {
            log.atError().setCause(e).addKeyValue("thread", name).log("a thread could not leave a namespace and ends");
        } finally {
            if (counted) {
                alive.decrementAndGet();
            } else {
                lost.decrementAndGet();
            }
        }
    }

    /// Lets running actions end; waiting ones are refused.
    @Override
    public void close() {
        closed = true;
        var refused = new CayException(ErrorKind.UNAVAILABLE, "the node is stopping");
        queue.drain().forEach(job -> job.refuse(refused));
        for (int i = 0; i < size; i++) {
            queue.add(JobQueue.NOBODY, new Job<@Nullable Object>(JobQueue.NOBODY, () -> null));
        }
    }

    /// An action under way.
    public final class Job<T extends @Nullable Object> {
        private final String owner;
        private final Action<T> action;
        private final AtomicReference<State> state = new AtomicReference<>(State.WAITING);
        private final CountDownLatch done = new CountDownLatch(1);
        private final AtomicReference<@Nullable Object> result = new AtomicReference<>();
        private volatile @Nullable Throwable failure;
        private volatile boolean abandoned;
        private volatile boolean late;

        private Job(String owner, Action<T> action) {
            this.owner = owner;
            this.action = action;
        }

        /// Stops counting on it; true when it had not ended. Its thread is replaced, as it may never return.
        public boolean giveUp() {
            if (state.compareAndSet(State.WAITING, State.DONE)) {
                return true;
            }
            if (lost.get() >= 4 * size || !state.compareAndSet(State.RUNNING, State.LOST)) {
                return state.get() != State.DONE;
            }
            lost.incrementAndGet();
            alive.decrementAndGet();
            queue.lost(owner);
            log.atWarn().addKeyValue("thread", name).log("a thread is stuck in a system call and is replaced");
            startMissing();
            return true;
        }

        /// Whether the thread can still be used afterwards.
        private boolean work() {
            if (!state.compareAndSet(State.WAITING, State.RUNNING)) {
                return true;
            }
            try {
                result.set(action.run());
            } catch (Tainted e) {
                failure = e;
                throw e;
            } catch (Throwable e) {
                failure = e;
            } finally {
                done.countDown();
                if (abandoned) {
                    drop();
                }
            }
            return state.compareAndSet(State.RUNNING, State.DONE);
        }

        private void refuse(Throwable reason) {
            failure = reason;
            done.countDown();
        }

        @SuppressWarnings({"unchecked", "NullAway"}) // The value is what the action of type T returned.
        private T await(Duration limit) throws IOException {
            try {
                if (!awaitDone(limit)) {
                    leave();
                    giveUp();
                    throw new CayException(
                            ErrorKind.UNAVAILABLE, "the %s threads did not answer within %s".formatted(name, limit));
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                leave();
                throw (IOException) new InterruptedIOException("interrupted").initCause(e);
            }
            return switch (failure) {
                case null -> (T) result.getAndSet(null);
                case IOException e -> throw e;
                case RuntimeException e -> throw e;
                case Error e -> throw e;
                default -> throw new IOException(failure);
            };
        }

        private boolean awaitDone(Duration limit) throws InterruptedException {
            if (limit.compareTo(LONG) < 0) {
                return done.await(limit.toNanos(), TimeUnit.NANOSECONDS);
            }
            long deadline = System.nanoTime() + limit.toNanos();
            WaitLimits.Wait wait = now -> look(now - deadline >= 0);
            limits.add(wait);
            try {
                done.await();
            } finally {
                limits.remove(wait);
            }
            return !late;
        }

        /// Replaces lost threads while callers wait: the last one may have been lost to another's action.
        private void look(boolean over) {
            startMissing();
            if (over) {
                late = true;
                done.countDown();
            }
        }

        private void leave() {
            abandoned = true;
            if (done.getCount() == 0) {
                drop();
            }
        }

        /// Whether the failure means that something does not exist, most likely because its sandbox has ended or not
        /// started yet. Such failures are not logged as errors.
        private static boolean isAbsence(@Nullable Throwable failure) {
            return failure instanceof NoSuchFileException
                    || (failure instanceof ErrnoException known
                            && (known.errno() == Errno.ENOENT || known.errno() == Errno.EAGAIN));
        }

        /// Closes an unclaimed result. Ownership passes to the first caller of `take()`: the worker and a caller that
        /// stops waiting may race for it.
        private void drop() {
            if (isAbsence(failure)) {
                log.atDebug().addKeyValue("what", failure).log("an abandoned action found nothing to work on");
            } else if (failure != null) {
                log.atWarn().setCause(failure).log("an action failed after its caller had stopped waiting");
            }
            if (result.getAndSet(null) instanceof AutoCloseable orphan) {
                try {
                    orphan.close();
                } catch (Exception e) {
                    log.atWarn().setCause(e).log("cannot close the result of an abandoned action");
                }
            }
        }
    }
}
