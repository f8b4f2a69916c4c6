package dev.cay.http;

import dev.cay.life.WaitLimits;
import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/// Runs short actions at their deadlines, on one thread for all. Most deadlines are cancelled long before, which must
/// cost next to nothing: no thread is woken for it.
final class Deadlines implements AutoCloseable {
    private final ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(
            1, Thread.ofPlatform().daemon().name("deadlines").factory());

    private final WaitLimits waits = new WaitLimits();

    Deadlines() {
        timer.setRemoveOnCancelPolicy(true);
    }

    /// @param action must not block; cancel it by the returned future
    Future<?> after(Duration delay, Runnable action) {
        return timer.schedule(action, delay.toNanos(), TimeUnit.NANOSECONDS);
    }

    /// Limits for waits that every request has, which must not cost a timer each.
    WaitLimits waits() {
        return waits;
    }

    @Override
    public void close() {
        timer.shutdownNow();
    }
}
