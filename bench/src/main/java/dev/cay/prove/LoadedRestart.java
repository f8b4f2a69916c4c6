package dev.cay.prove;

import dev.cay.platform.OwnCay;
import dev.cay.platform.Script;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/// Restarts of a killed daemon while its sandboxes take all the processor time they can get and clients go on asking.
///
/// A restart beside idle sandboxes comes first, on the same machine in the same minute: where other programs make that
/// one slow, the limit of the loaded one grows in the same measure.
final class LoadedRestart {
    private static final int SANDBOXES = 20;
    private static final int RESTARTS = 3;
    private static final Duration LIMIT = Duration.ofMinutes(3);

    /// A load has this long to spread over the machine before the daemon is killed.
    private static final Duration SPREAD = Duration.ofSeconds(4);

    /// What a restart beside idle sandboxes takes at most on two cores that have nothing else to do, until a new
    /// sandbox has run a command.
    private static final double CALM_SECONDS = 4;

    /// What the sandboxes do.
    ///
    /// @param name    of the load in `restart.mjs`
    /// @param what    for people
    /// @param seconds in which the daemon is promised to be back: a new sandbox was made and has run a command
    record Load(String name, String what, double seconds) {
        static final List<Load> ALL =
                List.of(new Load("compute", "that compute", 5), new Load("forks", "that fork without pause", 10));
    }

    /// Seconds from the start of the daemon until it said that it is ready, until a new sandbox had run a command, and
    /// until all that were there before had run one: these share their processor time with their own load.
    record Times(double ready, double back, double all) {
        Times slowest(Times other) {
            return new Times(Math.max(ready, other.ready), Math.max(back, other.back), Math.max(all, other.all));
        }

        @Override
        public String toString() {
            return String.format(
                    Locale.ROOT,
                    "ready after %.1f s, a new sandbox works after %.1f s, all others after %.1f s",
                    ready,
                    back,
                    all);
        }
    }

    /// How long restarts took.
    ///
    /// @param loaded of the slowest ones
    /// @param calm   beside idle sandboxes
    /// @param wrong  what was lost
    record Outcome(Load load, Times loaded, Times calm, List<String> wrong) {
        /// On this machine in this minute.
        double limit() {
            return load.seconds() * Math.max(1, calm.back() / CALM_SECONDS);
        }

        private double ratio() {
            return loaded.back() / calm.back();
        }

        Verdict verdict() {
            var details = new ArrayList<>(List.of(
                    "restart beside %d idle sandboxes: %s".formatted(SANDBOXES, calm),
                    String.format(
                            Locale.ROOT,
                            "restart beside %d sandboxes %s: %s, at worst of %d; %.1f times the calm one; limit %.1f s",
                            SANDBOXES,
                            load.what(),
                            loaded,
                            RESTARTS,
                            ratio(),
                            limit())));
            details.addAll(wrong);
            return new Verdict(wrong.isEmpty() && loaded.back() <= limit(), summary(), details);
        }

        private String summary() {
            return String.format(
                    Locale.ROOT,
                    "back after %.1f s beside %d %s, %.1f × a calm restart, %d lost",
                    loaded.back(),
                    SANDBOXES,
                    load.what(),
                    ratio(),
                    wrong.size());
        }
    }

    private final OwnCay cay;
    private final Stage stage;

    private LoadedRestart(OwnCay cay, Stage stage) {
        this.cay = cay;
        this.stage = stage;
    }

    /// With a daemon of its own, which ends afterwards.
    static Outcome measure(Stage stage, Load load) throws IOException, InterruptedException {
        var cay = stage.cay(OwnCay.LARGE);
        try (var script = Script.start(cay, LoadedRestart.class, "restart.mjs", SANDBOXES, load.name())) {
            script.next(LIMIT);
            return new LoadedRestart(cay, stage).measure(script, load);
        } finally {
            stage.endDaemons();
        }
    }

    private Outcome measure(Script script, Load load) throws IOException, InterruptedException {
        var calm = restart(script, "idle");
        script.tell("load");
        script.next(LIMIT);
        var slowest = new Times(0, 0, 0);
        var wrong = new ArrayList<String>();
        for (int i = 1; i <= RESTARTS; i++) {
            Thread.sleep(SPREAD);
            slowest = slowest.slowest(restart(script, load.name()));
            script.tell("check");
            script.next(LIMIT).get("wrong").forEach(line -> wrong.add(line.asString()));
        }
        return new Outcome(load, slowest, calm, wrong);
    }

    private Times restart(Script script, String load) throws IOException, InterruptedException {
        cay.crash();
        long began = System.nanoTime();
        cay.startAgain();
        double ready = (System.nanoTime() - began) / 1e9;
        script.tell("up");
        var more = script.next(LIMIT);
        var times = new Times(
                ready,
                ready + more.get("fresh").asDouble() / 1e3,
                ready + more.get("old").asDouble() / 1e3);
        stage.say(load + ": " + times);
        return times;
    }
}
