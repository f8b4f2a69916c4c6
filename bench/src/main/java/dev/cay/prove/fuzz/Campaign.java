package dev.cay.prove.fuzz;

import dev.cay.platform.OwnCay;
import dev.cay.platform.RemoteSandbox;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/// Sends one target's inputs, several at a time, and checks the rest of the daemon meanwhile.
public final class Campaign {
    private static final int WORKERS = 4;
    private static final Duration ROUND = Duration.ofSeconds(2);
    private static final Duration TELL = Duration.ofSeconds(30);

    /// An honest command may take that long beside all this, on two cores.
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private final OwnCay cay;
    private final Target target;
    private final RemoteSandbox neighbour;
    private final Findings findings;
    private final Consumer<String> progress;
    private final DaemonLog log;
    private final Map<String, AtomicLong> outcomes = new ConcurrentSkipListMap<>();
    private final AtomicLong next;
    private final AtomicLong played = new AtomicLong();
    private Duration slowest = Duration.ZERO;
    private volatile boolean over;

    /// @param first seed; the others follow it
    public Campaign(
            OwnCay cay,
            Target target,
            RemoteSandbox neighbour,
            Findings findings,
            long first,
            Consumer<String> progress)
            throws IOException {
        this.cay = cay;
        this.target = target;
        this.neighbour = neighbour;
        this.findings = findings;
        this.progress = progress;
        this.log = new DaemonLog(cay);
        this.next = new AtomicLong(first);
    }

    /// Runs; may be called again to continue. Ends early only when the daemon has ended.
    public void run(Duration duration) throws IOException, InterruptedException {
        long end = System.nanoTime() + duration.toNanos();
        long told = System.nanoTime();
        over = false;
        var threads = new ArrayList<Thread>();
        for (int i = 0; i < WORKERS; i++) {
            threads.add(Thread.ofPlatform().name("fuzz-" + i).start(this::work));
        }
        try {
            while (System.nanoTime() < end && cay.daemon().isAlive()) {
                long from = next.get();
                Thread.sleep(Math.min(ROUND.toMillis(), Math.max(1, (end - System.nanoTime()) / 1_000_000)));
                look(from);
                if (System.nanoTime() - told > TELL.toNanos()) {
                    told = System.nanoTime();
                    progress.accept("%s: %s".formatted(target.name(), summary()));
                }
            }
        } finally {
            over = true;
            for (var thread : threads) {
                thread.join(Reply.LIMIT.plusSeconds(10));
            }
        }
        if (!cay.daemon().isAlive()) {
            note("before " + next.get(), "the daemon is gone");
            throw new IOException("the daemon ended under %s: %s".formatted(target.name(), findings.lines()));
        }
    }

    private void work() {
        while (!over) {
            long seed = next.getAndIncrement();
            try {
                var result = target.play(seed);
                played.incrementAndGet();
                outcomes.computeIfAbsent(result.outcome(), _ -> new AtomicLong())
                        .incrementAndGet();
                if (!result.isFine()) {
                    note(Long.toString(seed), result.wrong());
                }
            } catch (InterruptedException e) {
                return;
            } catch (IOException | RuntimeException e) {
                note(Long.toString(seed), "could not be played: " + e);
            }
        }
    }

    /// @param from first seed that may have caused what is found now
    private void look(long from) throws InterruptedException {
        String seeds = "%d to %d".formatted(from - WORKERS, next.get());
        try {
            for (String error : log.news()) {
                note(seeds, "the log says " + error);
            }
        } catch (IOException e) {
            note(seeds, "the log cannot be read: " + e);
        }
        if (!cay.daemon().isAlive()) {
            return;
        }
        try {
            String wrong = target.tidy();
            if (!wrong.isEmpty()) {
                note(seeds, wrong);
            }
        } catch (IOException | RuntimeException e) {
            note(seeds, "cannot tidy up: " + e);
        }
        neighbour(seeds);
    }

    private void neighbour(String seeds) throws InterruptedException {
        long begun = System.nanoTime();
        try {
            String said = neighbour.run(List.of("/bin/echo", "neighbour"));
            if (!said.strip().equals("neighbour")) {
                note(seeds, "an honest echo in another sandbox said " + said);
            }
        } catch (IOException | RuntimeException e) {
            note(seeds, "an honest echo in another sandbox failed: " + e);
        }
        var took = Duration.ofNanos(System.nanoTime() - begun);
        slowest = took.compareTo(slowest) > 0 ? took : slowest;
        if (took.compareTo(PATIENCE) > 0) {
            note(seeds, "an honest echo in another sandbox took " + took.toSeconds() + " s");
        }
    }

    private void note(String seed, String what) {
        if (findings.add(target.name(), seed, what)) {
            progress.accept("FOUND %s, seed %s: %s".formatted(target.name(), seed, what));
        }
    }

    public long played() {
        return played.get();
    }

    /// The number of inputs, their outcomes, and the slowest command of a neighbour.
    public String summary() {
        return "%d inputs; slowest echo of a neighbour %d ms; %s"
                .formatted(
                        played.get(),
                        slowest.toMillis(),
                        outcomes.entrySet().stream()
                                .map(entry -> entry.getKey() + " × " + entry.getValue())
                                .collect(Collectors.joining(", ")));
    }
}
