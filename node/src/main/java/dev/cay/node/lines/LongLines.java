package dev.cay.node.lines;

import java.net.ProtocolException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/// Limits the node's memory for long lines of all sandboxes: lines wait for each other, and the processes that write
/// them wait too. A sandbox may hold few at a time, so other sandboxes get their turn however many processes it has.
/// Thread-safe.
public final class LongLines {
    /// Lines above a length, of which only so many fit into memory.
    private record Tier(int above, Semaphore all, int perSandbox) {
        /// A line exists twice while its buffer grows and when it is separated from the bytes after it.
        private static final int COPIES = 2;

        static Tier of(int above, int limit, int partOfHeap, int perSandbox) {
            long fit = Runtime.getRuntime().maxMemory() / partOfHeap / ((long) limit * COPIES);
            return new Tier(above, new Semaphore((int) Math.max(perSandbox, fit), true), perSandbox);
        }
    }

    /// No line is longer.
    public static final int LIMIT = 32 << 20;

    private static final int LONG = 1 << 20;
    private static final List<Tier> TIERS = List.of(Tier.of(LONG / 8, LONG, 16, 4), Tier.of(LONG, LIMIT, 4, 1));
    private static final Duration PATIENCE = Duration.ofMinutes(5);

    /// The sandbox's own part of each tier.
    private final List<Semaphore> own =
            TIERS.stream().map(tier -> new Semaphore(tier.perSandbox, true)).toList();

    /// Waits until there is memory for a line of that length.
    ///
    /// @param tiers the tiers it had when it was shorter
    /// @return its new tiers; pass them to {@link #leave}
    int enter(int length, int tiers) throws ProtocolException, InterruptedException {
        if (tiers == TIERS.size() || length <= TIERS.get(tiers).above) {
            return tiers;
        }
        long end = System.nanoTime() + PATIENCE.toNanos();
        take(own.get(tiers), end);
        boolean taken = false;
        try {
            take(TIERS.get(tiers).all, end);
            taken = true;
        } finally {
            if (!taken) {
                own.get(tiers).release();
            }
        }
        return tiers + 1;
    }

    private static void take(Semaphore room, long end) throws ProtocolException, InterruptedException {
        if (!room.tryAcquire(end - System.nanoTime(), TimeUnit.NANOSECONDS)) {
            throw new ProtocolException("too many send long lines");
        }
    }

    void leave(int tiers) {
        for (int tier = 0; tier < tiers; tier++) {
            TIERS.get(tier).all.release();
            own.get(tier).release();
        }
    }

    /// Whether another line waits for the memory of one in these tiers.
    public boolean isWanted(int tiers) {
        return IntStream.range(0, tiers)
                .anyMatch(tier ->
                        own.get(tier).hasQueuedThreads() || TIERS.get(tier).all.hasQueuedThreads());
    }
}
