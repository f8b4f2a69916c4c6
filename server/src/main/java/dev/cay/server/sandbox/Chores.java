package dev.cay.server.sandbox;

import dev.cay.server.event.EventStore;
import dev.cay.server.store.Store;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// What is done every so often, on one thread: endings that failed before, old records.
public final class Chores implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Chores.class);
    private static final Duration KEPT = Duration.ofDays(7);
    private static final Duration LAST_CHORE = Duration.ofSeconds(5);

    private final Store store;
    private final Sandboxes sandboxes;
    private final Pauses pauses;
    private final InstantSource clock;
    private final ScheduledThreadPoolExecutor thread = new ScheduledThreadPoolExecutor(
            1, Thread.ofPlatform().daemon().name("chores").factory());

    public Chores(Store store, Sandboxes sandboxes, Pauses pauses, InstantSource clock) {
        this.store = store;
        this.sandboxes = sandboxes;
        this.pauses = pauses;
        this.clock = clock;
    }

    public void start() {
        every(Duration.ofSeconds(5), sandboxes::finishUnfinished);
        every(Duration.ofSeconds(5), pauses::repair);
        every(Duration.ofHours(1), this::forgetOld);
    }

    @Override
    public void close() {
        thread.shutdownNow();
        try {
            thread.awaitTermination(LAST_CHORE.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void forgetOld() {
        Instant before = clock.instant().minus(KEPT);
        store.write(handle -> EventStore.deleteOlder(handle, before) + SandboxStore.deleteKilledBefore(handle, before));
    }

    /// A chore that fails once must still be done the next time, which the scheduler alone would not do.
    private void every(Duration period, Runnable chore) {
        var _ = thread.scheduleWithFixedDelay(
                () -> {
                    try {
                        chore.run();
                    } catch (RuntimeException e) {
                        log.atWarn().setCause(e).log("a chore failed");
                    }
                },
                period.toMillis(),
                period.toMillis(),
                TimeUnit.MILLISECONDS);
    }
}
