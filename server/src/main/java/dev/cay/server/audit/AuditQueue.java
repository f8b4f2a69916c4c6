package dev.cay.server.audit;

import dev.cay.metrics.Meters;
import dev.cay.metrics.Tally;
import dev.cay.server.store.Store;
import dev.cay.server.store.Transaction;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jdbi.v3.core.Handle;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Entries on their way to the database. One thread writes all waiting entries in one transaction, so that no request
/// waits for a disk. When the queue is full, adding an entry blocks.
final class AuditQueue implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(AuditQueue.class);
    private static final int WAITING = 10_000;
    private static final int GROUP = 256;
    private static final Duration FULL_LIMIT = Duration.ofSeconds(5);
    private static final Duration GATHER = Duration.ofMillis(50);
    private static final Duration RETRY = Duration.ofSeconds(1);
    private static final Duration LAST = Duration.ofSeconds(10);

    /// Wakes the thread when it shall end.
    private static final AuditEntry STOP = AuditEntry.ofDaemon(Instant.EPOCH, "stop", Map.of());

    private final Store store;
    private final InstantSource clock;
    private final Runnable written;
    private final BlockingQueue<AuditEntry> waiting = new ArrayBlockingQueue<>(WAITING);
    private final AtomicLong lost = new AtomicLong();
    private final Tally entries;
    private final Thread thread;
    private volatile boolean closed;

    /// @param written is called after each transaction, and must not block
    AuditQueue(Store store, InstantSource clock, Meters meters, Runnable written) {
        this.store = store;
        this.clock = clock;
        this.written = written;
        this.entries = meters.tally("cay_audit_entries_total", "Entries written to the audit log");
        meters.gauge("cay_audit_waiting", "Entries of the audit log that wait to be written", waiting::size);
        meters.gauge("cay_audit_lost", "Entries of the audit log that could not be written", lost::get);
        this.thread = Thread.ofVirtual().name("audit-writer").unstarted(this::loop);
    }

    void start() {
        thread.start();
    }

    /// Adds an entry. Waits while the queue is full, not for the disk. An entry that finds no place within five seconds
    /// is counted, and the chain records the number when the database is back.
    void add(AuditEntry entry) {
        boolean placed = false;
        try {
            placed = !closed && waiting.offer(entry, FULL_LIMIT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (!placed) {
            lost.incrementAndGet();
            log.atError()
                    .addKeyValue("action", entry.action())
                    .addKeyValue("actor", entry.actor())
                    .log("an entry of the audit log could not be kept: the database does not take it");
        }
    }

    /// Writes what waits, as far as that works.
    @Override
    public void close() {
        closed = true;
        try {
            // If the queue is full, the thread has work and checks the flag by itself.
            boolean _ = waiting.offer(STOP);
            if (thread.isAlive() && !thread.join(LAST)) {
                thread.interrupt();
                log.atError()
                        .addKeyValue("entries", waiting.size())
                        .log("entries of the audit log were not written before the server stopped");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void loop() {
        var group = new ArrayList<AuditEntry>(GROUP);
        try {
            while (!closed || !waiting.isEmpty()) {
                group.add(waiting.take());
                if (!closed && waiting.size() < GROUP) {
                    // A commit of its own for each entry would hold up the commits of requests.
                    Thread.sleep(GATHER);
                }
                waiting.drainTo(group, GROUP - 1);
                group.remove(STOP);
                if (!group.isEmpty()) {
                    write(group);
                }
                group.clear();
            }
        } catch (InterruptedException e) {
            log.atWarn().log("the audit log's writer was interrupted");
        }
    }

    /// Tries until it works: requests that change something wait when the queue is full.
    private void write(List<AuditEntry> group) throws InterruptedException {
        long missing = lost.get();
        if (missing > 0) {
            var facts = Map.of("result", "failed", "entries", Long.toString(missing));
            group.addFirst(AuditEntry.ofDaemon(clock.instant(), "audit.lost", facts));
        }
        var work = new Appending(List.copyOf(group));
        while (true) {
            try {
                store.write(work);
                break;
            } catch (RuntimeException e) {
                log.atWarn()
                        .setCause(e)
                        .addKeyValue("entries", group.size())
                        .log("the audit log cannot be written yet");
                if (closed) {
                    return;
                }
                Thread.sleep(RETRY);
            }
        }
        lost.addAndGet(-missing);
        entries.add(group.size());
        written.run();
    }

    private record Appending(List<AuditEntry> group) implements Transaction<Long> {
        @Override
        public Long run(Handle handle) throws Exception {
            // The answer to an earlier commit of the same group may have got lost.
            return AuditStore.exists(handle, group.getFirst())
                    ? AuditStore.head(handle).sequence()
                    : AuditStore.append(handle, group).sequence();
        }
    }
}
