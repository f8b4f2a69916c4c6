package dev.cay.life;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

/// A computation on a thread of its own, while its owner does something else. The result should not need closing,
/// because an owner that fails never asks for it.
public final class BackgroundTask<T> {
    private final CompletableFuture<T> result = new CompletableFuture<>();
    private final AtomicBoolean begun = new AtomicBoolean();
    private final Executor thread;
    private final Supplier<T> work;

    private BackgroundTask(String name, Supplier<T> work) {
        this.thread = Thread.ofPlatform().daemon().name(name)::start;
        this.work = work;
    }

    public static <T> BackgroundTask<T> begin(String name, Supplier<T> work) {
        var task = new BackgroundTask<>(name, work);
        task.begin();
        return task;
    }

    /// For work that is not urgent: it starts after the delay, or sooner when its result is asked for.
    public static <T> BackgroundTask<T> beginLater(String name, Duration delay, Supplier<T> work) {
        var task = new BackgroundTask<>(name, work);
        CompletableFuture.delayedExecutor(delay.toNanos(), TimeUnit.NANOSECONDS, Runnable::run)
                .execute(task::begin);
        return task;
    }

    private void begin() {
        if (begun.compareAndSet(false, true)) {
            var _ = result.completeAsync(work, thread);
        }
    }

    /// Waits for the result, or throws the exception of the work.
    public T get() {
        begin();
        try {
            return result.join();
        } catch (CompletionException e) {
            throw e.getCause() instanceof RuntimeException known ? known : e;
        }
    }
}
