package dev.cay.cli;

import dev.cay.life.Progress;
import java.io.PrintStream;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Locale;

/// One line per step and no tricks with the cursor, so that it reads the same on a terminal, in a file and in a
/// service's journal.
final class ConsoleProgress implements Progress {
    private final PrintStream out;
    private final InstantSource clock;
    private java.time.Instant stepBegan;

    ConsoleProgress(PrintStream out, InstantSource clock) {
        this.out = out;
        this.clock = clock;
        this.stepBegan = clock.instant();
    }

    @Override
    public synchronized void step(String what) {
        stepBegan = clock.instant();
        out.println("  .. " + what);
    }

    @Override
    public synchronized void detail(String text) {
        out.println("     " + text);
    }

    @Override
    public synchronized void done(String what) {
        out.println("  ok " + what + "  (" + seconds(Duration.between(stepBegan, clock.instant())) + ")");
    }

    static String seconds(Duration time) {
        return String.format(Locale.ROOT, "%.1f s", time.toMillis() / 1000.0);
    }
}
