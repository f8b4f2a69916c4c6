package dev.cay.node.snapshot;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Background work for snapshots, one task at a time.
///
/// One sync of the pool serves all requests before its start, so many pauses share one.
final class Settling implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Settling.class);

    private final Runnable sync;
    private final ExecutorService thread = Executors.newSingleThreadExecutor(
            Thread.ofPlatform().daemon().name("settling").factory());
    private final List<Runnable> afterSync = new ArrayList<>();

    /// @param sync writes everything so far to the disk
    Settling(Runnable sync) {
        this.sync = sync;
    }

    /// Runs the action once all that was written so far outlives a loss of power. It must be short.
    void afterSync(Runnable action) {
        boolean first;
        synchronized (afterSync) {
            first = afterSync.isEmpty();
            afterSync.add(action);
        }
        if (first) {
            soon(this::syncAll);
        }
    }

    private void syncAll() {
        List<Runnable> waiting;
        synchronized (afterSync) {
            waiting = List.copyOf(afterSync);
            afterSync.clear();
        }
        sync.run();
        waiting.forEach(Runnable::run);
    }

    /// Runs the action when those before are done.
    void soon(Runnable action) {
        try {
            thread.execute(() -> {
                try {
                    action.run();
                } catch (RuntimeException e) {
                    log.atWarn().setCause(e).log("work on snapshots failed; it is tried again later");
                }
            });
        } catch (RejectedExecutionException e) {
            // The daemon stops; the next one does this work.
        }
    }

    /// Leaves waiting tasks to the next daemon.
    @Override
    public void close() {
        thread.shutdownNow();
    }
}
