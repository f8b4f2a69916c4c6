package dev.cay.mcp.protocol;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Runs work on other threads, for callers that are in the middle of a conversation or that others wait for.
public final class Background {
    private static final Logger log = LoggerFactory.getLogger(Background.class);
    private static final Duration LONGEST_FAREWELL = Duration.ofSeconds(25);

    private Background() {}

    public static void run(Runnable words) {
        Thread.ofVirtual().name("mcp-later").start(words);
    }

    /// Runs all at once, and waits for them: conversations may need a while to end.
    public static void runAll(List<Runnable> farewells) {
        var threads = Executors.newVirtualThreadPerTaskExecutor();
        farewells.forEach(threads::execute);
        threads.shutdown();
        try {
            if (!threads.awaitTermination(LONGEST_FAREWELL.toSeconds(), TimeUnit.SECONDS)) {
                log.warn("not every conversation ended in time");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
