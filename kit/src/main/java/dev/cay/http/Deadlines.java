package dev.cay.http;

import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/// Runs short actions when somebody's time is up, on one thread for all. Most are taken back long before, which must
/// cost next to nothing: no thread is woken for it.
final class Deadlines implements AutoCloseable {
    private final ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(
            1, Thread.ofPlatform().daemon().name("deadlines").factory());

    Deadlines() {
        timer.setRemoveOnCancelPolicy(true);
    }

    /// @param action must not block; cancel it by the returned future
    Future<?> after(Duration delay, Runnable action) {
        return timer.schedule(action, delay.toNanos(), TimeUnit.NANOSECONDS);
    }

    @Override
    public void close() {
        timer.shutdownNow();
    }
}
