package dev.cay.prove;

import dev.cay.platform.OwnCay;
import dev.cay.prove.fuzz.Campaign;
import dev.cay.prove.fuzz.Findings;
import dev.cay.prove.fuzz.FuzzTargets;
import dev.cay.prove.fuzz.Target;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;

/// Sends malformed inputs to every place that accepts bytes from strangers.
///
/// Findings are reported with their seeds. `CAY_JAVA_OPTS=-Dseed=N` repeats that one input and shows both sides of the
/// conversation.
final class FuzzProof implements Proof {
    private static final int MINUTES = 10;

    /// Until caches are full and code is compiled: what the daemon holds then is what it must hold at the end.
    private static final Duration WARM_UP = Duration.ofSeconds(20);

    /// Ended processes can be asked about for half a minute, and some sandboxes live for a quarter.
    private static final Duration SETTLING = Duration.ofSeconds(90);

    private static final Duration LOOK = Duration.ofSeconds(3);

    private static final long SPARE_DESCRIPTORS = 30;
    private static final long SPARE_THREADS = 16;
    private static final long SPARE_HEAP_KB = 16 << 10;

    @Override
    public String name() {
        return "fuzz";
    }

    @Override
    public String promise() {
        return "10 minutes each of broken HTTP heads, RPC frames, uploads, paths, guest messages, image layers and Dockerfiles:"
                + " nothing crashes, hangs or leaks, no layer reaches out of its directory, and no error is our own";
    }

    /// What the daemon holds at one moment.
    private record Holding(OpenDescriptors descriptors, long threads, long heapKB) {
        static Holding of(OwnCay cay) throws IOException, InterruptedException {
            long daemon = cay.daemon().pid();
            // Garbage may hold descriptors: they are counted when it has gone.
            long heapKB = new DaemonJvm(daemon).heapKB();
            return new Holding(
                    OpenDescriptors.of(daemon), HostCounters.read(daemon).get("daemonThreads"), heapKB);
        }

        boolean isNear(Holding before) {
            return descriptors.count() <= before.descriptors.count() + SPARE_DESCRIPTORS
                    && threads <= before.threads + SPARE_THREADS
                    && heapKB <= before.heapKB + SPARE_HEAP_KB;
        }

        @Override
        public String toString() {
            return "%d descriptors, %d threads, %d MB heap".formatted(descriptors.count(), threads, heapKB >> 10);
        }
    }

    @Override
    public Verdict run(Stage stage) throws Exception {
        var cay = stage.cay(Map.of("sandboxes.diskSizeMB", "512MB"));
        var targets = new FuzzTargets(cay);
        var chosen = stage.chosen(FuzzTargets.NAMES, Function.identity());
        Long seed = Long.getLong("seed");
        if (seed != null) {
            return again(targets, chosen, seed);
        }
        var findings = new Findings();
        var details = new ArrayList<String>();
        long inputs = 0;
        for (String name : chosen) {
            // A sandbox lives for an hour, and all targets together take longer.
            try (var neighbour = targets.neighbour();
                    var target = targets.open(name)) {
                var campaign = new Campaign(
                        cay,
                        target,
                        neighbour,
                        findings,
                        ThreadLocalRandom.current().nextInt(),
                        stage::say);
                details.add(campaign(stage, cay, campaign, target, findings));
                inputs += campaign.played();
            }
        }
        details.addAll(findings.lines());
        return new Verdict(
                findings.isEmpty(),
                "%d inputs in %d targets of %d minutes each, %d findings"
                        .formatted(inputs, chosen.size(), stage.minutes(MINUTES), findings.size()),
                details);
    }

    private static String campaign(Stage stage, OwnCay cay, Campaign campaign, Target target, Findings findings)
            throws IOException, InterruptedException {
        stage.say(target.name() + ": warms up");
        campaign.run(WARM_UP);
        target.settle();
        var before = calm(cay);
        campaign.run(Duration.ofMinutes(stage.minutes(MINUTES)));
        String left = target.settle();
        if (!left.isEmpty()) {
            findings.add(target.name(), "all", left);
        }
        var after = near(cay, before);
        if (!after.isNear(before)) {
            findings.add(
                    target.name(),
                    "all",
                    "the daemon did not give back what it took: before %s, after %s; more of %s"
                            .formatted(before, after, after.descriptors().moreThan(before.descriptors())));
        }
        String line = "- `%s`: %s; before %s, after %s".formatted(target.name(), campaign.summary(), before, after);
        stage.say(line);
        return line;
    }

    /// What the daemon holds when it gives nothing more back.
    private static Holding calm(OwnCay cay) throws IOException, InterruptedException {
        long end = System.nanoTime() + SETTLING.toNanos();
        var last = Holding.of(cay);
        for (int same = 0; same < 4 && System.nanoTime() < end; ) {
            Thread.sleep(LOOK);
            var now = Holding.of(cay);
            same = now.descriptors().count() == last.descriptors().count() ? same + 1 : 0;
            last = now;
        }
        return last;
    }

    private static Holding near(OwnCay cay, Holding before) throws IOException, InterruptedException {
        long end = System.nanoTime() + SETTLING.toNanos();
        var now = Holding.of(cay);
        while (!now.isNear(before) && System.nanoTime() < end) {
            Thread.sleep(LOOK);
            now = Holding.of(cay);
        }
        return now;
    }

    /// Plays one input alone.
    private static Verdict again(FuzzTargets targets, List<String> chosen, long seed)
            throws IOException, InterruptedException {
        var lines = new ArrayList<String>();
        boolean fine = true;
        for (String name : chosen) {
            try (var target = targets.open(name)) {
                var played = target.play(seed);
                fine &= played.isFine();
                lines.add("`%s`, seed %d\n```\n%s\n```".formatted(name, seed, played.transcript()));
            }
        }
        return new Verdict(fine, "seed %d alone".formatted(seed), lines);
    }
}
