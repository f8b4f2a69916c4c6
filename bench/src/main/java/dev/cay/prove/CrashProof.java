package dev.cay.prove;

import dev.cay.bench.OwnCay;
import dev.cay.bench.Script;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;

/// The daemon is killed again and again while it is busy, and nothing that was acknowledged or printed is lost. Then
/// it is killed while sandboxes take all the processor time, and is back soon.
final class CrashProof implements Proof {
    private static final int CRASHES = 25;
    private static final int COUNTERS = 20;

    /// In which all sandboxes answer after a start, where a daemon without any is ready after {@link #CALM_SECONDS}. On
    /// a slower machine they have longer in the same measure.
    private static final double ANSWER_SECONDS = 5;

    private static final double CALM_SECONDS = 1.5;
    private static final Duration LIMIT = Duration.ofMinutes(3);
    private static final String BUSY = "busy";
    private static final List<String> PARTS = Stream.concat(
                    Stream.of(BUSY), LoadedRestart.Load.ALL.stream().map(LoadedRestart.Load::name))
            .toList();

    @Override
    public String name() {
        return "crash";
    }

    @Override
    public String promise() {
        return "kill -9 of the busy daemon, " + CRASHES
                + " times: sandboxes, commands, output and acknowledged creates, kills and writes are all there; and it is"
                + " back within 5 s beside 20 sandboxes that compute, 10 s beside 20 that fork without pause";
    }

    @Override
    public Verdict run(Stage stage) throws Exception {
        var parts = stage.chosen(PARTS, Function.identity());
        var verdicts = new ArrayList<Verdict>();
        if (parts.contains(BUSY)) {
            verdicts.add(busy(stage));
            stage.endDaemons();
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
        double calm = restart(cay);
        double limit = ANSWER_SECONDS * Math.max(1, calm / CALM_SECONDS);
        stage.say(String.format(Locale.ROOT, "without sandboxes: ready after %.2f s; limit %.1f s", calm, limit));
        try (var script = Script.start(cay, CrashProof.class, "crash.mjs", COUNTERS)) {
            script.next(LIMIT);
            double slowest = crash(cay, script, stage);
            script.tell("finish");
            return judge(script.next(LIMIT), slowest, limit, cay);
        }
    }

    /// @return seconds until the daemon was ready
    private static double restart(OwnCay cay) throws IOException, InterruptedException {
        cay.crash();
        long began = System.nanoTime();
        cay.startAgain();
        return (System.nanoTime() - began) / 1e9;
    }

    /// @return the longest time from a start to the answer of the last sandbox, in seconds
    private static double crash(OwnCay cay, Script script, Stage stage) throws IOException, InterruptedException {
        double slowest = 0;
        for (int i = 1; i <= CRASHES; i++) {
            Thread.sleep(ThreadLocalRandom.current().nextInt(500, 6000));
            double ready = restart(cay);
            long began = System.nanoTime();
            script.tell("up");
            var answered = script.next(LIMIT);
            double took = ready + (System.nanoTime() - began) / 1e9;
            slowest = Math.max(slowest, took);
            stage.say(String.format(
                    Locale.ROOT,
                    "crash %d: ready after %.2f s, all answer after %.2f s; %d creates so far, %d unacknowledged",
                    i,
                    ready,
                    took,
                    answered.get("created").asInt(),
                    answered.get("failed").asInt()));
            // Servers and terminals are asked one by one, and must not be cut while they are.
            script.next(LIMIT);
        }
        return slowest;
    }

    private static Verdict judge(JsonNode found, double slowest, double limit, OwnCay cay) throws IOException {
        var wrong = new ArrayList<String>();
        found.get("wrong").forEach(line -> wrong.add(line.asString()));
        var listed = new HashSet<String>();
        found.get("listed").forEach(id -> listed.add(id.asString()));
        Set<String> containers = Traces.of(cay).containers();
        if (!containers.equals(listed)) {
            wrong.add("runc has %s, the API lists %s".formatted(containers, listed));
        }
        if (slowest > limit) {
            wrong.add(String.format(
                    Locale.ROOT,
                    "sandboxes answered only %.1f s after the start; the limit is %.1f s",
                    slowest,
                    limit));
        }
        var details = new ArrayList<>(List.of(
                "numbers checked: " + found.get("numbers").asLong(),
                "creates acknowledged: " + found.get("created").asInt() + ", refused or cut by a crash: "
                        + found.get("failed").asInt(),
                "file writes acknowledged: " + found.get("written").asInt(),
                "streams of the unmodified client that lost or repeated something at a cut: "
                        + found.get("clientBreaks").asInt()));
        details.addAll(wrong);
        return new Verdict(
                wrong.isEmpty(),
                String.format(
                        Locale.ROOT,
                        "%d crashes, %d creates, %d numbers; slowest answer %.1f s after a start; %d wrong",
                        CRASHES,
                        found.get("created").asInt(),
                        found.get("numbers").asLong(),
                        slowest,
                        wrong.size()),
                details);
    }
}
