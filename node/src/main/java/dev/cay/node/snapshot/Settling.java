package dev.cay.node.snapshot;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// What is done about snapshots when nobody waits any more: one thing at a time.
///
/// Writing the pool to the disk serves all who asked before it began, so many pauses share one.
final class Settling implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Settling.class);

    private final Runnable sync;
    private final ExecutorService thread = Executors.newSingleThreadExecutor(
            Thread.ofPlatform().daemon().name("settling").factory());
    private final List<Runnable> afterSync = new ArrayList<>();

    /// @param sync writes to the disk what was written so far
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
                    log.atWarn().setCause(e).log("something saved could not be settled; it is looked at again later");
                }
            });
        } catch (RejectedExecutionException e) {
            // The daemon stops; the next one looks after it.
        }
    }

    /// What waits is left to the next daemon.
    @Override
    public void close() {
        thread.shutdownNow();
    }
}
