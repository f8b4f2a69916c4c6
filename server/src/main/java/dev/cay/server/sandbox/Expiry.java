package dev.cay.server.sandbox;

import dev.cay.life.SteadyClock;
import dev.cay.wire.SandboxId;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Ends or pauses sandboxes at their deadline: one thread waits for the earliest one. It also checks whether the clock
/// was set, and then moves all recorded times.
///
/// An entry may be out of date, because a changed deadline only adds another entry: the directory is asked before
/// anything ends.
public final class Expiry implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Expiry.class);
    /// Longest sleep, however far the next deadline is, because the clock may be set and the machine may sleep.
    private static final Duration LOOK_AGAIN = Duration.ofSeconds(1);

    /// A pause that failed may have been much work.
    private static final Duration TRY_AGAIN = Duration.ofSeconds(5);

    private static final Duration LAST_ENDINGS = Duration.ofSeconds(10);

    private record Due(Instant at, SandboxId id) {
        static final Comparator<Due> ORDER =
                Comparator.comparing(Due::at).thenComparing(due -> due.id().value());
    }

    private final SteadyClock clock;
    private final SandboxDirectory directory;
    private final @Nullable Duration keepPaused;
    private final ConcurrentSkipListSet<Due> queue = new ConcurrentSkipListSet<>(Due.ORDER);
    private final ExecutorService endings = Executors.newVirtualThreadPerTaskExecutor();
    private volatile @Nullable Thread thread;
    private volatile boolean closed;

    /// @param keepPaused how long paused sandboxes are kept; null for ever
    public Expiry(SteadyClock clock, SandboxDirectory directory, @Nullable Duration keepPaused) {
        this.clock = clock;
        this.directory = directory;
        this.keepPaused = keepPaused;
    }

    /// @param end   ends or pauses a sandbox whose time has passed
    /// @param moved called with the distance by which the clock was set; moves all recorded times and lets the
    ///              clock follow
    public void start(Consumer<SandboxId> end, Consumer<Duration> moved) {
        thread = Thread.ofPlatform().daemon().name("expiry").start(() -> loop(end, moved));
    }

    void schedule(SandboxRecord sandbox) {
        sandbox.dueAt(keepPaused).ifPresent(at -> schedule(sandbox.id(), at));
    }

    /// Schedules a sandbox that is overdue because something failed, with a delay.
    void scheduleAgain(SandboxRecord sandbox) {
        sandbox.dueAt(keepPaused).ifPresent(at -> {
            Instant next = next();
            schedule(sandbox.id(), at.isAfter(next) ? at : next);
        });
    }

    /// Whether the time of this sandbox, with its current deadline, has passed.
    boolean isDue(SandboxRecord sandbox) {
        return sandbox.dueAt(keepPaused)
                .filter(at -> !at.isAfter(clock.instant()))
                .isPresent();
    }

    private void schedule(SandboxId id, Instant at) {
        var due = new Due(at, id);
        queue.add(due);
        // The thread does not exist before start().
        Thread waiting = thread;
        if (waiting != null && !queue.isEmpty() && queue.first().equals(due)) {
            LockSupport.unpark(waiting);
        }
    }

    @Override
    public void close() {
        closed = true;
        Thread running = thread;
        if (running != null) {
            LockSupport.unpark(running);
        }
        try {
            if (running != null) {
                running.join(LAST_ENDINGS);
            }
            endings.shutdown();
            if (!endings.awaitTermination(LAST_ENDINGS.toMillis(), TimeUnit.MILLISECONDS)) {
                endings.shutdownNow();
            }
        } catch (InterruptedException e) {
            endings.shutdownNow();
            Thread.currentThread().interrupt();
        }
    }

    private void loop(Consumer<SandboxId> end, Consumer<Duration> moved) {
        while (!closed) {
            lookAtClock(moved);
            Instant now = clock.instant();
            var due = queue.isEmpty() ? null : queue.pollFirst();
            if (due == null) {
                LockSupport.parkNanos(this, LOOK_AGAIN.toNanos());
                continue;
            }
            if (due.at().isAfter(now)) {
                queue.add(due);
                var wait = Duration.between(now, due.at());
                LockSupport.parkNanos(this, (wait.compareTo(LOOK_AGAIN) < 0 ? wait : LOOK_AGAIN).toNanos());
                continue;
            }
            if (directory.find(due.id()).filter(this::isDue).isPresent() && !closed) {
                endings.execute(() -> end(due.id(), end));
            }
        }
    }

    private void lookAtClock(Consumer<Duration> moved) {
        var jump = clock.jump();
        if (jump.isZero()) {
            return;
        }
        try {
            moved.accept(jump);
            log.atWarn().addKeyValue("by", jump).log("the clock was set; sandboxes end when they would have");
        } catch (RuntimeException e) {
            log.atError().setCause(e).addKeyValue("by", jump).log("the clock was set, and ends could not be moved yet");
        }
    }

    /// The time of the next retry. Retries happen at fixed times, so a sandbox that is scheduled several times is tried
    /// once.
    private Instant next() {
        long step = TRY_AGAIN.toSeconds();
        return Instant.ofEpochSecond((clock.instant().getEpochSecond() / step + 1) * step);
    }

    private void end(SandboxId id, Consumer<SandboxId> end) {
        try {
            end.accept(id);
        } catch (RuntimeException e) {
            log.atError()
                    .setCause(e)
                    .addKeyValue("sandbox", id)
                    .log("cannot end or pause an expired sandbox; trying again");
            schedule(id, next());
        }
    }
}
