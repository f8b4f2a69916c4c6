package dev.cay.node.egress;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Limits how many entries all egress logs of the node hold together. A team that needs more than its share loses its
/// own oldest entries and nobody else's: it may have one more while it has fewer than are free. Thread-safe.
final class LogRoom {
    /// Entries of one sandbox.
    private static final int MOST_OF_LOG = 1000;

    /// Bytes of heap for each entry. An entry takes 1 KB at most, so logs take a sixteenth of the heap.
    private static final long HEAP = 16 << 10;

    private static final int LEAST = 16_384;

    /// A log that takes room.
    interface Log {
        /// The team whose share its entries take.
        String team();

        /// Removes the entry that was not seen for the longest time.
        void dropOldest();

        /// Takes no more entries from now on.
        void forget();

        boolean forgotten();
    }

    /// The logs of one team, each with its number of entries.
    private static final class Share {
        private final Map<Log, Integer> logs = new HashMap<>();
        private int entries;
    }

    private final int most;

    // Guarded by this.
    private final Map<String, Share> byTeam = new HashMap<>();
    private int all;

    LogRoom() {
        this((int) Math.max(LEAST, Runtime.getRuntime().maxMemory() / HEAP));
    }

    LogRoom(int most) {
        this.most = most;
    }

    /// Makes room for an entry that a log has just got.
    void added(Log log) {
        var full = count(log);
        if (full != null) {
            full.dropOldest();
        }
    }

    /// @return a log that must lose an entry for it; null if there is room
    private synchronized @Nullable Log count(Log log) {
        if (log.forgotten()) {
            return null;
        }
        var share = byTeam.computeIfAbsent(log.team(), _ -> new Share());
        int entries = share.logs.merge(log, 1, Integer::sum);
        share.entries++;
        all++;
        if (entries <= MOST_OF_LOG && share.entries <= most - all) {
            return null;
        }
        // A log of at least the usual length loses its own, which needs no look at the others.
        boolean usual = (long) entries * share.logs.size() >= share.entries;
        var full = usual ? log : longest(share);
        share.logs.computeIfPresent(full, (_, count) -> count == 1 ? null : count - 1);
        share.entries--;
        all--;
        return full;
    }

    private static Log longest(Share share) {
        return share.logs.entrySet().stream()
                .max(Map.Entry.comparingByValue())
                .orElseThrow()
                .getKey();
    }

    /// Gives back the room of a log that is not kept any more.
    synchronized void forget(Log log) {
        log.forget();
        var share = byTeam.get(log.team());
        Integer entries = share == null ? null : share.logs.remove(log);
        if (share != null && entries != null) {
            share.entries -= entries;
            all -= entries;
            if (share.logs.isEmpty()) {
                byTeam.remove(log.team());
            }
        }
    }
}
