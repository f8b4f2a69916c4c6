package dev.cay.cli;

import java.io.PrintStream;
import java.time.Duration;

/// Says which part of a backup is read or written, and how many bytes there are so far: after a second, and less and
/// less often from then on.
final class BackupProgress {
    private static final Duration LONGEST = Duration.ofSeconds(15);

    private final PrintStream err;
    private long bytes;
    private long told = System.nanoTime();
    private long pause = Duration.ofSeconds(1).toNanos();
    private String part = "";

    BackupProgress(PrintStream err) {
        this.err = err;
    }

    void at(String name) {
        part = name;
        tell();
    }

    void add(long more) {
        bytes += more;
        tell();
    }

    long bytes() {
        return bytes;
    }

    private void tell() {
        if (System.nanoTime() - told > pause) {
            told = System.nanoTime();
            pause = Math.min(LONGEST.toNanos(), pause + pause / 2);
            err.println("  .. %s, %s".formatted(PoolCommand.size(bytes), part.isEmpty() ? "begins" : part));
        }
    }
}
