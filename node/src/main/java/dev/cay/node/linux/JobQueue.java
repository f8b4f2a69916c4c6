package dev.cay.node.linux;

import dev.cay.life.FairShare;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/// Jobs that wait for threads. Owners take turns, and each has its share of the threads and of the places in the queue.
/// Thread-safe.
final class JobQueue<J> {
    /// Owns jobs that are not limited.
    static final String NOBODY = "";

    /// An owner whose jobs did not come back so often gets no more threads before they do.
    private static final int MOST_LOST = 4;

    private final int patience;
    private final FairShare threads;
    private final FairShare places;

    // Guarded by this.
    private final SequencedMap<String, ArrayDeque<J>> waiting = new LinkedHashMap<>();
    private final Map<String, Integer> lost = new HashMap<>();
    private int size;

    /// @param patience how many jobs may wait
    JobQueue(int threads, int patience) {
        this.patience = patience;
        this.threads = new FairShare(threads);
        this.places = new FairShare(patience);
    }

    /// Takes a place for a job that is then added.
    synchronized boolean hasRoom(String owner) {
        return owner.equals(NOBODY) ? size < patience : lost.getOrDefault(owner, 0) < MOST_LOST && places.enter(owner);
    }

    synchronized void add(String owner, J job) {
        waiting.computeIfAbsent(owner, _ -> new ArrayDeque<>()).add(job);
        size++;
        notify();
    }

    /// The next job. Its owner has a thread more until {@link #done}.
    synchronized J take() throws InterruptedException {
        while (true) {
            var job = next();
            if (job != null) {
                return job;
            }
            wait();
        }
    }

    /// Empties the queue.
    synchronized List<J> drain() {
        var all = waiting.values().stream().flatMap(ArrayDeque::stream).toList();
        waiting.clear();
        size = 0;
        return all;
    }

    private @Nullable J next() {
        for (var entry : waiting.entrySet()) {
            String owner = entry.getKey();
            if (owner.equals(NOBODY) || mayRun(owner)) {
                var own = entry.getValue();
                var job = own.remove();
                waiting.remove(owner);
                if (!own.isEmpty()) {
                    waiting.putLast(owner, own);
                }
                size--;
                leavePlace(owner);
                return job;
            }
        }
        return null;
    }

    private boolean mayRun(String owner) {
        return lost.getOrDefault(owner, 0) < MOST_LOST && threads.enter(owner);
    }

    private void leavePlace(String owner) {
        if (!owner.equals(NOBODY)) {
            places.leave(owner);
        }
    }

    /// A job has come back.
    ///
    /// @param counted false if it had been given up
    synchronized void done(String owner, boolean counted) {
        if (owner.equals(NOBODY)) {
            return;
        }
        if (counted) {
            threads.leave(owner);
        } else {
            lost.computeIfPresent(owner, (_, count) -> count == 1 ? null : count - 1);
        }
        notify();
    }

    /// A job does not come back, and another thread is started in place of its own.
    synchronized void lost(String owner) {
        if (!owner.equals(NOBODY)) {
            threads.leave(owner);
            lost.merge(owner, 1, Integer::sum);
            notify();
        }
    }
}
