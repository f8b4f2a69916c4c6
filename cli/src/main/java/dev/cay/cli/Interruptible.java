package dev.cay.cli;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

/// Work that takes things from the host and must give them back when the user presses Ctrl-C: it is interrupted, and
/// the program waits for its `finally` before it ends.
final class Interruptible {
    private static final Duration LIMIT = Duration.ofMinutes(3);

    private Interruptible() {}

    static <T> T run(Callable<T> work) {
        var task = new FutureTask<>(work);
        var worker = Thread.ofPlatform().name("work").unstarted(task);
        var hook = Thread.ofPlatform().unstarted(() -> end(worker));
        Runtime.getRuntime().addShutdownHook(hook);
        worker.start();
        try {
            return task.get();
        } catch (ExecutionException e) {
            throw switch (e.getCause()) {
                case RuntimeException known -> known;
                case InterruptedException stopped -> new CayException(ErrorKind.CANCELED, "interrupted", stopped);
                case null, default ->
                    new CayException(ErrorKind.INTERNAL, "the work failed: " + e.getCause(), e.getCause());
            };
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CayException(ErrorKind.CANCELED, "interrupted", e);
        } finally {
            forget(hook);
        }
    }

    private static void end(Thread worker) {
        worker.interrupt();
        try {
            worker.join(LIMIT);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    private static void forget(Thread hook) {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException _) {
            // The program ends already, and the hook does its work.
        }
    }
}
