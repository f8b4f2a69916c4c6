package dev.cay.server.sandbox;

import dev.cay.server.event.EventPartStore;
import dev.cay.server.event.EventStore;
import dev.cay.server.store.Store;
import dev.cay.server.store.Transaction;
import dev.cay.server.template.Templates;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Periodic tasks on one thread: retries of failed changes, counters, deletion of old records.
public final class Chores implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Chores.class);
    /// How long events, and records of sandboxes that ended, are kept.
    public static final Duration KEPT = Duration.ofDays(7);

    /// Rows deleted in one transaction: others wait for it.
    private static final int PORTION = 1000;
    private static final Duration LAST_CHORE = Duration.ofSeconds(5);

    private final Store store;
    private final Sandboxes sandboxes;
    private final SandboxStarter starter;
    private final Pauses pauses;
    private final Templates templates;
    private final EgressLogs egressLogs;
    private final Runnable forgetMessages;
    private final Runnable cutExpired;
    private final Runnable finishDeletions;
    private final InstantSource clock;
    private final ScheduledThreadPoolExecutor thread = new ScheduledThreadPoolExecutor(
            1, Thread.ofPlatform().daemon().name("chores").factory());

    /// @param forgetMessages removes old messages of webhooks
    /// @param cutExpired     cuts requests whose keys have expired
    /// @param finishDeletions begins to delete the volumes whose deletion has failed
    public Chores(
            Store store,
            Sandboxes sandboxes,
            SandboxStarter starter,
            Pauses pauses,
            Templates templates,
            EgressLogs egressLogs,
            Runnable forgetMessages,
            Runnable cutExpired,
            Runnable finishDeletions,
            InstantSource clock) {
        this.store = store;
        this.sandboxes = sandboxes;
        this.starter = starter;
        this.pauses = pauses;
        this.templates = templates;
        this.egressLogs = egressLogs;
        this.forgetMessages = forgetMessages;
        this.cutExpired = cutExpired;
        this.finishDeletions = finishDeletions;
        this.clock = clock;
    }

    public void start() {
        every(Duration.ofSeconds(1), cutExpired);
        every(Duration.ofSeconds(5), sandboxes::finishUnfinished);
        every(Duration.ofSeconds(5), starter::undoUnfinished);
        every(Duration.ofSeconds(5), pauses::repair);
        every(Duration.ofSeconds(5), templates::writeSpawns);
        every(Duration.ofSeconds(10), finishDeletions);
        every(Duration.ofMinutes(1), egressLogs::keepAll);
        every(Duration.ofHours(1), this::forgetOld);
        every(Duration.ofHours(1), forgetMessages);
    }

    @Override
    public void close() {
        thread.shutdownNow();
        try {
            thread.awaitTermination(LAST_CHORE.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        attempt(templates::writeSpawns);
        attempt(egressLogs::keepAll);
    }

    private void forgetOld() {
        Instant before = clock.instant().minus(KEPT);
        inPortions(handle -> EventStore.deleteOlder(handle, before, PORTION));
        inPortions(handle -> EventPartStore.deleteOlder(handle, before, PORTION));
        inPortions(handle -> SandboxStore.deleteKilledBefore(handle, before, PORTION));
        inPortions(handle -> EgressLogStore.deleteOlder(handle, before, PORTION));
    }

    private void inPortions(Transaction<Integer> delete) {
        while (store.write(delete) == PORTION) {
            log.atDebug().log("deleted a portion of old records");
        }
    }

    /// A chore that fails once must still be done the next time, which the scheduler alone would not do.
    private void every(Duration period, Runnable chore) {
        var _ = thread.scheduleWithFixedDelay(
                () -> attempt(chore), period.toMillis(), period.toMillis(), TimeUnit.MILLISECONDS);
    }

    private static void attempt(Runnable chore) {
        try {
            chore.run();
        } catch (RuntimeException e) {
            log.atWarn().setCause(e).log("a periodic task failed; the next round tries again");
        }
    }
}
