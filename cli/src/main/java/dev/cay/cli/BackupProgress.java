package dev.cay.cli;

import java.io.IOException;
import java.io.PrintStream;
import java.time.Duration;

/// Prints which part of a backup is read or written, and the number of bytes so far: after a second, and then less and
/// less often.
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

    /// Counts bytes, and checks for Ctrl-C, because reads of files ignore it.
    void add(long more) throws IOException {
        if (Thread.currentThread().isInterrupted()) {
            throw new IOException("interrupted");
        }
        bytes += more;
        tell();
    }

    private void tell() {
        if (System.nanoTime() - told > pause) {
            told = System.nanoTime();
            pause = Math.min(LONGEST.toNanos(), pause + pause / 2);
            err.println("  .. %s, %s".formatted(PoolCommand.size(bytes), part.isEmpty() ? "begins" : part));
        }
    }
}
