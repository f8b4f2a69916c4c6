package dev.cay.node.egress;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// Work that is begun before anybody needs it. Who needs it waits until it is done.
final class Preparation {
    /// Connecting and greeting have limits of their own.
    private static final Duration LIMIT = Duration.ofSeconds(70);

    private volatile @Nullable CountDownLatch done;

    /// To be called once at most.
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

    /// Returns at once if nothing was begun.
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
