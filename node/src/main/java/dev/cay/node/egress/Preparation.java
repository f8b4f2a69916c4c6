package dev.cay.node.egress;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// Work that is started in advance. A thread that needs its result waits until it is done.
final class Preparation {
    /// Connecting and greeting have limits of their own.
    private static final Duration LIMIT = Duration.ofSeconds(70);

    private volatile @Nullable CountDownLatch done;

    /// Starts the work. Call this at most once.
    void begin(Runnable work) {
        var latch = new CountDownLatch(1);
        done = latch;
        Thread.startVirtualThread(() -> {
            try {
                work.run();
            } finally {
                latch.countDown();
            }
        });
    }

    /// Waits for the work; returns at once if none was started.
    void await() {
        var latch = done;
        try {
            if (latch != null && !latch.await(LIMIT.toSeconds(), TimeUnit.SECONDS)) {
                done = null;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
