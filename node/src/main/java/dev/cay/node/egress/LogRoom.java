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
        private final String team;
        private final Map<Log, Integer> logs = new HashMap<>();
        private int entries;

        private Share(String team) {
            this.team = team;
        }

        private void add(Log log, int more) {
            logs.merge(log, more, Integer::sum);
            entries += more;
        }

        /// @return how many entries the log had
        private int remove(Log log) {
            Integer had = logs.remove(log);
            entries -= had == null ? 0 : had;
            return had == null ? 0 : had;
        }
    }

    private final int most;

    // Guarded by this.
    private final Map<String, Share> byTeam = new HashMap<>();
    private final Map<Log, Share> byLog = new HashMap<>();
    private int all;

    LogRoom() {
        this((int) Math.max(LEAST, Runtime.getRuntime().maxMemory() / HEAP));
    }

    LogRoom(int most) {
        this.most = most;
    }

    /// Makes room for an entry that a log has just got.
    void added(Log log) {
        for (var full = count(log, 1); full != null; full = count(log, 0)) {
            full.dropOldest();
        }
    }

    /// @return a log that must lose an entry; null if there is room
    private synchronized @Nullable Log count(Log log, int more) {
        if (log.forgotten()) {
            return null;
        }
        var share = shareOf(log);
        share.add(log, more);
        all += more;
        int entries = share.logs.getOrDefault(log, 0);
        if (entries <= MOST_OF_LOG && share.entries <= most - all) {
            return null;
        }
        // A log of at least the usual length loses its own, which needs no look at the others.
        boolean usual = (long) entries * share.logs.size() >= share.entries;
        var full = usual ? log : longest(share);
        share.add(full, -1);
        all--;
        return full;
    }

    /// The share of its team. The entries of a sandbox that was started before it had a team move to the team's share.
    private Share shareOf(Log log) {
        var share = byTeam.computeIfAbsent(log.team(), Share::new);
        var before = byLog.put(log, share);
        if (before != null && before != share) {
            share.add(log, take(before, log));
        }
        return share;
    }

    /// @return how many entries the log had
    private int take(Share share, Log log) {
        int had = share.remove(log);
        if (share.logs.isEmpty()) {
            byTeam.remove(share.team, share);
        }
        return had;
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
        var share = byLog.remove(log);
        if (share != null) {
            all -= take(share, log);
        }
    }
}
