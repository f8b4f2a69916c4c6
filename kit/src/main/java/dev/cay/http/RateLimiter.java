package dev.cay.http;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/// Allows a number of events per second; callers that come earlier wait. A second's worth may come at once.
/// Thread-safe.
final class RateLimiter {
    private static final long SECOND = Duration.ofSeconds(1).toNanos();

    private final long each;
    private final AtomicLong next = new AtomicLong(System.nanoTime());

    RateLimiter(int perSecond) {
        this.each = SECOND / perSecond;
    }

    /// Sleeps until it is this caller's turn.
    void await() throws InterruptedException {
        await(1);
    }

    /// Waits for this many events at once.
    void await(int count) throws InterruptedException {
        long now = System.nanoTime();
        long turn = next.updateAndGet(at -> (at - now > 0 ? at : now) + count * each) - SECOND;
        if (turn - now > 0) {
            TimeUnit.NANOSECONDS.sleep(turn - now);
        }
    }
}
