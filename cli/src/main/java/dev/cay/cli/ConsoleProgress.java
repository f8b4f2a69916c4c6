package dev.cay.cli;

import dev.cay.life.Progress;
import java.io.PrintStream;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Locale;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Prints one line per step without cursor movements, so that it reads the same on a terminal, in a file and in a
/// service's journal.
final class ConsoleProgress implements Progress {
    private static final Logger log = LoggerFactory.getLogger(ConsoleProgress.class);

    private final PrintStream out;
    private final InstantSource clock;
    private Instant stepBegan;
    private long marked = System.nanoTime();

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

    @Override
    public synchronized void mark(String what) {
        long now = System.nanoTime();
        log.atInfo()
                .addKeyValue("what", what)
                .addKeyValue("ms", Duration.ofNanos(now - marked).toMillis())
                .log("start");
        marked = now;
    }

    static String seconds(Duration time) {
        return String.format(Locale.ROOT, "%.1f s", time.toMillis() / 1000.0);
    }
}
