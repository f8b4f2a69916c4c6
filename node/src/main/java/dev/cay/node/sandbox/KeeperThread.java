package dev.cay.node.sandbox;

import dev.cay.node.guest.SilentGuestException;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/// The one thread that changes a sandbox: one thing after the other, in the order it was asked for.
final class KeeperThread {
    private final SandboxId id;
    private final ExecutorService thread;

    KeeperThread(SandboxId id) {
        this.id = id;
        this.thread = Executors.newSingleThreadExecutor(
                Thread.ofVirtual().name("keeper-" + id.value()).factory());
    }

    /// Runs an action and waits for its end. A caller that stops waiting does not stop the action.
    ///
    /// @param what completes the sentence "the sandbox could not ..."
    <T extends @Nullable Object> T ask(String what, Duration limit, Callable<T> action) {
        try {
            return thread.submit(action).get(limit.toNanos(), TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException e) {
            throw new CayException(ErrorKind.NOT_FOUND, "sandbox %s is not running".formatted(id), e);
        } catch (TimeoutException e) {
            throw new CayException(
                    ErrorKind.UNAVAILABLE, "sandbox %s did not %s within %s".formatted(id, what, limit), e);
        } catch (ExecutionException e) {
            throw failure(what, e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CayException(ErrorKind.CANCELED, "interrupted", e);
        }
    }

    private CayException failure(String what, @Nullable Throwable cause) {
        return switch (cause) {
            case CayException known -> known;
            case SilentGuestException silent ->
                new CayException(
                        ErrorKind.UNAVAILABLE,
                        "sandbox %s could not %s: %s".formatted(id, what, silent.getMessage()),
                        silent);
            case null, default ->
                new CayException(ErrorKind.INTERNAL, "sandbox %s could not %s".formatted(id, what), cause);
        };
    }

    /// The same, but does nothing for a sandbox that has ended.
    void askIfThere(String what, Duration limit, Runnable action) {
        try {
            ask(what, limit, () -> {
                action.run();
                return null;
            });
        } catch (CayException e) {
            if (!(e.getCause() instanceof RejectedExecutionException)) {
                throw e;
            }
        }
    }

    /// Queues an action; it never runs if the sandbox ends before, or is left to the next daemon.
    void later(Runnable action) {
        try {
            thread.execute(action);
        } catch (RejectedExecutionException e) {
            // The sandbox has ended, so nothing is left to do.
        }
    }

    /// Refuses further actions; queued ones still run.
    void end() {
        thread.shutdown();
    }
}
