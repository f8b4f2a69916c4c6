package dev.cay.server.audit;

import dev.cay.server.store.Store;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Copies entries to one place, in their order. How far it came is on record, so that nothing is left out after a
/// crash or while the place cannot be reached; the last few entries may be sent twice.
final class AuditExport implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(AuditExport.class);
    private static final int PORTION = 500;
    private static final Duration LOOK = Duration.ofSeconds(5);
    private static final Duration LAST = Duration.ofSeconds(10);

    /// The destination of entries.
    interface Target {
        /// Writes all of them or fails. Waits no longer than a few seconds.
        void write(List<AuditChain.Link> links) throws IOException, InterruptedException;
    }

    private final String name;
    private final Target target;
    private final Store store;
    private final boolean fromBeginning;
    private final Semaphore news = new Semaphore(0);
    private final Thread thread;
    private volatile boolean closed;
    private volatile long sequence;
    private boolean failing;

    /// @param fromBeginning whether entries from before the first use are copied, too
    AuditExport(String name, Target target, Store store, boolean fromBeginning) {
        this.name = name;
        this.target = target;
        this.store = store;
        this.fromBeginning = fromBeginning;
        // Writes to files and pipes block a thread of the system.
        this.thread = Thread.ofPlatform().daemon().name("audit-export-" + name).unstarted(this::loop);
    }

    String name() {
        return name;
    }

    long behind() {
        return Math.max(0, store.read(AuditStore::head).sequence() - sequence);
    }

    void start() {
        long noted = store.read(handle -> AuditStore.exported(handle, name));
        sequence = noted >= 0
                ? noted
                : fromBeginning ? 0 : store.read(AuditStore::head).sequence();
        thread.start();
    }

    void wake() {
        news.release();
    }

    @Override
    public void close() {
        closed = true;
        news.release();
        try {
            if (thread.isAlive() && !thread.join(LAST)) {
                thread.interrupt();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void loop() {
        try {
            while (!closed) {
                boolean _ = news.tryAcquire(LOOK.toMillis(), TimeUnit.MILLISECONDS);
                news.drainPermits();
                copy();
            }
            copy();
        } catch (InterruptedException e) {
            log.atWarn().addKeyValue("target", name).log("an export of the audit log was interrupted");
        }
    }

    private void copy() throws InterruptedException {
        try {
            while (copyPortion() == PORTION) {
                log.atDebug().addKeyValue("target", name).log("exported a portion of the audit log");
            }
            failing = false;
        } catch (IOException | RuntimeException e) {
            if (!failing) {
                log.atError()
                        .setCause(e)
                        .addKeyValue("target", name)
                        .log("the audit log cannot be exported; this is tried again every 5 seconds");
            }
            failing = true;
        }
    }

    private int copyPortion() throws IOException, InterruptedException {
        long after = sequence;
        var links = store.read(handle -> AuditStore.rows(handle, after, PORTION)).stream()
                .map(AuditStore.Row::link)
                .toList();
        if (links.isEmpty()) {
            return 0;
        }
        target.write(links);
        sequence = links.getLast().sequence();
        store.write(handle -> AuditStore.noteExported(handle, name, sequence));
        return links.size();
    }
}
