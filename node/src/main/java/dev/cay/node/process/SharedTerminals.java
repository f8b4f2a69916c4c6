package dev.cay.node.process;

import dev.cay.node.linux.Descriptor;
import dev.cay.node.linux.DescriptorIo;
import dev.cay.node.linux.ErrnoException;
import dev.cay.node.linux.HostThreads;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Calls on the terminals that an older guest shares with one sandbox. Thread-safe.
///
/// Root inside can make such a call block. So all calls of a sandbox take turns on one thread of the few that exist for
/// them, and a sandbox that keeps this thread is ended: the kernel then ends the call.
final class SharedTerminals {
    private static final Duration STUCK = Duration.ofSeconds(5);
    private static final Duration LIMIT = Duration.ofSeconds(20);

    private final Workers workers;
    private final Consumer<String> lost;
    private final Deque<Runnable> waiting = new ArrayDeque<>();
    private boolean busy;
    private volatile HostThreads.@Nullable Job<?> job;

    /// @param lost told why the sandbox must be ended
    SharedTerminals(Workers workers, Consumer<String> lost) {
        this.workers = workers;
        this.lost = lost;
    }

    /// Runs the action when those before it are done.
    void run(Runnable action) {
        synchronized (this) {
            waiting.addLast(action);
            if (busy) {
                return;
            }
            busy = true;
        }
        takeThread();
    }

    /// The number of bytes that the terminal accepted.
    int write(Descriptor terminal, byte[] bytes, int offset, int length) throws IOException {
        var result = new CompletableFuture<Integer>();
        run(() -> {
            try {
                if (!result.isDone()) {
                    result.complete(DescriptorIo.write(terminal, bytes, offset, length));
                }
            } catch (ErrnoException | RuntimeException e) {
                result.completeExceptionally(e);
            }
        });
        try {
            return result.get(LIMIT.toNanos(), TimeUnit.NANOSECONDS);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof IOException failure ? failure : new IOException(e.getCause());
        } catch (TimeoutException e) {
            result.cancel(false);
            throw new CayException(ErrorKind.UNAVAILABLE, "the terminal does not answer", e);
        } catch (InterruptedException e) {
            result.cancel(false);
            Thread.currentThread().interrupt();
            throw (IOException) new InterruptedIOException("interrupted").initCause(e);
        }
    }

    private void takeThread() {
        job = workers.terminals().run(() -> {
            work();
            return true;
        });
    }

    /// Runs one action; then other sandboxes get the thread.
    private void work() {
        Runnable action;
        synchronized (this) {
            action = waiting.pollFirst();
            busy = action != null;
        }
        if (action == null) {
            return;
        }
        var poller = workers.poller();
        var check = poller.after(STUCK, this::stuck);
        try {
            action.run();
        } finally {
            check.cancel();
            poller.after(Duration.ZERO, this::takeThread);
        }
    }

    private void stuck() {
        var held = job;
        if (held != null && held.giveUp()) {
            lost.accept("a terminal does not answer");
        }
    }
}
