package dev.cay.server.metrics;

import dev.cay.server.sandbox.SandboxDirectory;
import dev.cay.server.sandbox.SandboxRecord;
import dev.cay.server.sandbox.SandboxState;
import dev.cay.wire.SandboxId;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Measures all sandboxes every few seconds, on one thread. While none runs it only checks that.
public final class Sampler implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Sampler.class);
    private static final Duration LAST_ROUND = Duration.ofSeconds(5);

    private final SandboxDirectory directory;
    private final SandboxMetrics sandboxes;
    private final TeamMetrics teams;
    private final Consumer<Set<SandboxId>> room;
    private final Runnable shares;
    private final Duration every;
    private final ScheduledThreadPoolExecutor thread = new ScheduledThreadPoolExecutor(
            1, Thread.ofPlatform().daemon().name("sampler").factory());
    private long seen;

    /// @param shares updated in each round with running sandboxes
    /// @param room   gets the sandboxes whose memory is saved when their time has passed
    public Sampler(
            SandboxDirectory directory,
            SandboxMetrics sandboxes,
            TeamMetrics teams,
            Consumer<Set<SandboxId>> room,
            Runnable shares,
            Duration every) {
        this.directory = directory;
        this.room = room;
        this.shares = shares;
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
        attempt(() -> room.accept(toBeSaved()));
        attempt(shares);
    }

    private Set<SandboxId> toBeSaved() {
        return directory.list().stream()
                .filter(sandbox -> sandbox.state() == SandboxState.RUNNING)
                .filter(sandbox ->
                        sandbox.lifecycle().pause() && sandbox.lifecycle().keepMemory())
                .map(SandboxRecord::id)
                .collect(Collectors.toSet());
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
