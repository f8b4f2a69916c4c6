package dev.cay.prove.fuzz;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/// Limits the time and the memory of code that runs in this process. Thread-safe.
///
/// Code that never returns cannot report itself, so {@link #overdue} reports it from another thread.
final class Deadlines {
    /// Generous, as the machine may be busy. Code that does not end takes longer.
    private static final Duration LIMIT = Duration.ofSeconds(20);

    private final com.sun.management.ThreadMXBean threads =
            (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
    private final Map<Long, Long> begun = new ConcurrentHashMap<>();
    private final long mostBytes;

    /// @param mostBytes that one input may allocate in total
    Deadlines(long mostBytes) {
        this.mostBytes = mostBytes;
    }

    /// Plays one input.
    interface Play {
        Played run() throws IOException, InterruptedException;
    }

    /// @return the result of the play, or what it exceeded
    Played limit(long seed, Play play) throws IOException, InterruptedException {
        long start = System.nanoTime();
        long allocated = threads.getCurrentThreadAllocatedBytes();
        begun.put(seed, start);
        try {
            var played = play.run();
            long bytes = threads.getCurrentThreadAllocatedBytes() - allocated;
            if (played.isFine() && bytes > mostBytes) {
                return wrong(played, "allocated more than %d MB".formatted(mostBytes >> 20));
            }
            if (played.isFine() && System.nanoTime() - start > LIMIT.toNanos()) {
                return wrong(played, "took more than %d s".formatted(LIMIT.toSeconds()));
            }
            return played;
        } finally {
            begun.remove(seed);
        }
    }

    /// Inputs that are still played after the limit; empty for none.
    String overdue() {
        long now = System.nanoTime();
        for (var each : begun.entrySet()) {
            if (now - each.getValue() > LIMIT.toNanos()) {
                return "seed %d did not end within %d s".formatted(each.getKey(), LIMIT.toSeconds());
            }
        }
        return "";
    }

    private static Played wrong(Played played, String what) {
        return new Played(played.outcome(), what, played.sent(), played.heard());
    }
}
