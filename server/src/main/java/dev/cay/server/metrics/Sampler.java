package dev.cay.server.metrics;

import dev.cay.server.sandbox.SandboxDirectory;
import java.time.Duration;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Measures every few seconds, on one thread for all sandboxes. While none runs it only looks whether
/// that is so.
public final class Sampler implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Sampler.class);
    private static final Duration LAST_ROUND = Duration.ofSeconds(5);

    private final SandboxDirectory directory;
    private final SandboxMetrics sandboxes;
    private final TeamMetrics teams;
    private final Duration every;
    private final ScheduledThreadPoolExecutor thread = new ScheduledThreadPoolExecutor(
            1, Thread.ofPlatform().daemon().name("sampler").factory());
    private long seen;

    public Sampler(SandboxDirectory directory, SandboxMetrics sandboxes, TeamMetrics teams, Duration every) {
        this.directory = directory;
        this.sandboxes = sandboxes;
        this.teams = teams;
        this.every = every;
    }

    public void start() {
        long period = every.toMillis();
        var _ = thread.scheduleAtFixedRate(this::round, period, period, TimeUnit.MILLISECONDS);
    }

    @Override
    public void close() {
        thread.shutdownNow();
        try {
            thread.awaitTermination(LAST_ROUND.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void round() {
        long changes = directory.changes();
        if (directory.running() == 0 && changes == seen) {
            return;
        }
        seen = changes;
        attempt(sandboxes::sample);
        attempt(teams::sample);
    }

    /// A round that fails must not be the last one, which it would be for the scheduler.
    private static void attempt(Runnable part) {
        try {
            part.run();
        } catch (RuntimeException e) {
            log.atWarn().setCause(e).log("a round of measuring failed");
        }
    }
}
