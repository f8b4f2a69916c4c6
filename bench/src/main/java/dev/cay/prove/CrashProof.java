package dev.cay.prove;

import dev.cay.platform.OwnCay;
import dev.cay.platform.Script;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Stream;

/// The daemon is killed again and again while it is busy, and nothing that was acknowledged or printed is lost; the
/// same with PostgreSQL, which is killed and replaced too. Then the daemon is killed while sandboxes take all the
/// processor time, and is back soon.
final class CrashProof implements Proof {
    private static final int CRASHES = 25;
    private static final int COUNTERS = 20;

    /// In which all sandboxes answer after half of the starts, where a daemon without any is ready after
    /// {@link #CALM_SECONDS}. On a slower machine they have longer in the same measure.
    ///
    /// Clients go on all the while: they create sandboxes, retry what was cut and compete with the start for the
    /// processors. How many of them do so at a moment is chance, so that the slowest start has twice the time. The
    /// machine itself may be slower for a while too, where others share its processors: see {@link Round#seconds}.
    private static final double ANSWER_SECONDS = 5;

    private static final double CALM_SECONDS = 1.5;
    private static final Duration LIMIT = Duration.ofMinutes(3);
    private static final String BUSY = "busy";
    private static final String POSTGRES = "postgres";
    private static final List<String> PARTS = Stream.concat(
                    Stream.of(BUSY, POSTGRES), LoadedRestart.Load.ALL.stream().map(LoadedRestart.Load::name))
            .toList();

    @Override
    public String name() {
        return "crash";
    }

    @Override
    public String promise() {
        return "kill -9 of the busy daemon, " + CRASHES
                + " times: sandboxes, commands, output and acknowledged creates, kills and writes are all there, and all"
                + " sandboxes answer within 5 s of a start (median; 10 s at most); it is back within 5 s beside 20 sandboxes that compute, 10 s beside 20 that fork without pause; the same is kept with records in PostgreSQL when the daemon or the database is killed, or a standby takes its place";
    }

    @Override
    public Verdict run(Stage stage) throws Exception {
        var parts = stage.chosen(PARTS, Function.identity());
        var verdicts = new ArrayList<Verdict>();
        if (parts.contains(BUSY)) {
            verdicts.add(busy(stage));
            stage.endDaemons();
        }
        if (parts.contains(POSTGRES)) {
            verdicts.add(DatabaseCrash.run(stage));
        }
        for (var load : LoadedRestart.Load.ALL) {
            if (parts.contains(load.name())) {
                verdicts.add(LoadedRestart.measure(stage, load).verdict());
            }
        }
        return Verdict.all(verdicts);
    }

    private static Verdict busy(Stage stage) throws IOException, InterruptedException {
        var cay = stage.cay(OwnCay.LARGE);
        cay.crash();
        double calm = seconds(cay::startAgain);
        double limit = ANSWER_SECONDS * Math.max(1, calm / CALM_SECONDS);
        stage.say(String.format(Locale.ROOT, "without sandboxes: ready after %.2f s; limit %.1f s", calm, limit));
        try (var script = Script.start(cay, CrashProof.class, "crash.mjs", COUNTERS)) {
            script.next(LIMIT);
            var times = Times.of(crash(cay, script, stage));
            script.tell("finish");
            return judge(new CrashFindings(script.next(LIMIT)), times, limit, cay);
        }
    }

    /// One crash.
    ///
    /// @param reference seconds that a short command of Cay took while there was no daemon
    /// @param answered  seconds from the start to the answer of the last sandbox
    private record Round(double reference, double answered) {
        /// The answer's seconds as they would have been in the round with the fastest reference. The load is the same
        /// in each round, so that a slower reference means a slower machine.
        double seconds(double fastestReference) {
            return answered * fastestReference / reference;
        }
    }

    /// From a start to the answer of the last sandbox, in seconds.
    private record Times(double median, double slowest) {
        static Times of(List<Round> rounds) {
            double fastest = rounds.stream().mapToDouble(Round::reference).min().orElseThrow();
            var sorted = rounds.stream()
                    .map(round -> round.seconds(fastest))
                    .sorted()
                    .toList();
            return new Times(sorted.get(sorted.size() / 2), sorted.getLast());
        }
    }

    private static List<Round> crash(OwnCay cay, Script script, Stage stage) throws IOException, InterruptedException {
        var rounds = new ArrayList<Round>();
        for (int i = 1; i <= CRASHES; i++) {
            Thread.sleep(ThreadLocalRandom.current().nextInt(500, 6000));
            cay.crash();
            double reference = seconds(() -> runVersion(cay));
            double ready = seconds(cay::startAgain);
            long began = System.nanoTime();
            script.tell("up");
            var answered = script.next(LIMIT);
            double took = ready + (System.nanoTime() - began) / 1e9;
            rounds.add(new Round(reference, took));
            stage.say(String.format(
                    Locale.ROOT,
                    "crash %d: reference %.2f s, ready after %.2f s, all answer after %.2f s; %d creates so far, %d unacknowledged",
                    i,
                    reference,
                    ready,
                    took,
                    answered.get("created").asInt(),
                    answered.get("failed").asInt()));
            // Servers and terminals are asked one by one, and must not be cut while they are.
            script.next(LIMIT);
        }
        return rounds;
    }

    private interface Work {
        void run() throws IOException, InterruptedException;
    }

    private static double seconds(Work work) throws IOException, InterruptedException {
        long began = System.nanoTime();
        work.run();
        return (System.nanoTime() - began) / 1e9;
    }

    private static void runVersion(OwnCay cay) throws IOException, InterruptedException {
        var process = cay.cay("version")
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        if (!process.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)) {
            process.destroyForcibly();
            throw new IllegalStateException("`cay version` does not end");
        }
    }

    private static Verdict judge(CrashFindings found, Times times, double limit, OwnCay cay)
            throws IOException, InterruptedException {
        var wrong = found.lost(cay);
        if (times.median() > limit || times.slowest() > 2 * limit) {
            wrong.add(String.format(
                    Locale.ROOT,
                    "all sandboxes answered %.1f s after a start (median), %.1f s at most; the limits are %.1f and %.1f s",
                    times.median(),
                    times.slowest(),
                    limit,
                    2 * limit));
        }
        var details = found.details();
        details.addAll(wrong);
        return new Verdict(
                wrong.isEmpty(),
                String.format(
                        Locale.ROOT,
                        "%d crashes, %d creates, %d numbers; all answer %.1f s after a start (median), %.1f s at most; %d wrong",
                        CRASHES,
                        found.created(),
                        found.numbers(),
                        times.median(),
                        times.slowest(),
                        wrong.size()),
                details);
    }
}
