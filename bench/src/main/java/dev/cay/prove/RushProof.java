package dev.cay.prove;

import dev.cay.bench.Crowding;
import dev.cay.platform.OwnCay;
import dev.cay.platform.RemoteSandbox;
import dev.cay.platform.Script;
import dev.cay.platform.Times;
import dev.cay.prove.Neighbours.Pace;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import tools.jackson.databind.JsonNode;

/// Many paused sandboxes are needed at the same time.
///
/// The server inside each has a memory and counts requests, so an answer shows that it is the right sandbox's, that
/// nothing of it was lost, and that no request was lost or repeated on the way.
final class RushProof implements Proof {
    private static final int WOKEN = 50;
    private static final int CYCLED = 200;
    /// What a daemon makes once, for the first who need it, is not left over.
    private static final int WARM_UP = 16;
    private static final int NEIGHBOURS = 3;
    private static final int SLACK = 12;
    private static final int HEAP_SLACK_KB = 8 * 1024;
    private static final Duration LIFE = Duration.ofHours(2);
    private static final Duration LIMIT = Duration.ofMinutes(10);
    private static final Duration GONE_LIMIT = Duration.ofMinutes(2);

    private static final String TRAFFIC = "traffic";
    private static final String LOAD = "load";

    @Override
    public String name() {
        return "rush";
    }

    /// Where a paused sandbox is when it is wanted, and how it gets its memory back.
    private enum Way {
        FROZEN("frozen", "8GB", true),
        LAZY("disk", "0", true),
        EAGER("disk", "0", false);

        private final String from;
        private final String frozenMemory;
        private final boolean lazy;

        Way(String from, String frozenMemory, boolean lazy) {
            this.from = from;
            this.frozenMemory = frozenMemory;
            this.lazy = lazy;
        }

        String word() {
            return name().toLowerCase(Locale.ROOT);
        }

        Map<String, String> settings() {
            var settings = new HashMap<>(Crowding.SETTINGS);
            settings.put("sandboxes.spares", "0");
            settings.put("pause.frozenMemoryMB", frozenMemory);
            settings.put("sandboxes.lazyMemory", Boolean.toString(lazy));
            return settings;
        }
    }

    @Override
    public String promise() {
        return ("%d paused sandboxes wanted all at once by requests to their ports, and %d paused and resumed while"
                        + " others work, frozen ones and ones on disk: each request is answered once, by its own"
                        + " sandbox with all it knew, each is resumed once, no neighbour fails, and nothing is left")
                .formatted(WOKEN, CYCLED);
    }

    @Override
    public Verdict run(Stage stage) throws Exception {
        var names = new ArrayList<>(List.of(TRAFFIC, LOAD));
        List.of(Way.values()).forEach(way -> names.add(way.word()));
        var chosen = stage.chosen(names, part -> part);
        var verdicts = new ArrayList<Verdict>();
        for (var way : orAll(List.of(Way.values()), way -> chosen.contains(way.word()))) {
            stage.say("paused sandboxes: " + way.word());
            verdicts.add(run(stage, way, orAll(List.of(TRAFFIC, LOAD), chosen::contains)));
            stage.endDaemons();
        }
        return Verdict.all(verdicts);
    }

    private static <T> List<T> orAll(List<T> parts, Predicate<T> chosen) {
        var found = parts.stream().filter(chosen).toList();
        return found.isEmpty() ? parts : found;
    }

    private static Verdict run(Stage stage, Way way, List<String> parts) throws Exception {
        var cay = stage.cay(way.settings());
        // The first sandbox of all makes what stays for the others.
        RemoteSandbox.create(cay.url(), cay.key()).close();
        var before = new DaemonResources(cay).things();
        var run = new Run(stage, cay, way);
        var warm = run.warmUp(before);
        run.play(parts);
        return run.judge(before, warm);
    }

    /// What the daemon and its sandboxes have at a moment when nobody wants anything.
    private record Rest(int things, HostCounters counters, long heapKB) {
        static Rest of(OwnCay cay) throws IOException, InterruptedException {
            long daemon = cay.daemon().pid();
            // Counted after the garbage has gone, as that may hold descriptors.
            long heap = new DaemonJvm(daemon).heapKB();
            return new Rest(new DaemonResources(cay).things().size(), HostCounters.read(daemon), heap);
        }

        List<String> grownSince(Rest before) {
            var grown = new ArrayList<>(counters.grownSince(before.counters, SLACK, "daemonFds", "daemonThreads"));
            if (heapKB > before.heapKB + HEAP_SLACK_KB) {
                grown.add("the heap grew from %d to %d KB".formatted(before.heapKB, heapKB));
            }
            return grown;
        }

        String line() {
            return "%d things on the host, heap %d MB, %s".formatted(things, heapKB / 1024, counters);
        }
    }

    /// What happened so far.
    private static final class Run {
        private final Stage stage;
        private final OwnCay cay;
        private final Way way;
        private final List<String> summary = new ArrayList<>();
        private final List<String> details = new ArrayList<>();
        private final List<String> wrong = new ArrayList<>();

        Run(Stage stage, OwnCay cay, Way way) {
            this.stage = stage;
            this.cay = cay;
            this.way = way;
        }

        /// @param before what was there before all this
        Rest warmUp(Set<String> before) throws IOException, InterruptedException {
            stage.say("the daemon warms up");
            try (var script = script()) {
                order(script, TRAFFIC, WARM_UP);
                order(script, LOAD, WARM_UP);
            }
            new DaemonResources(cay).left(before, GONE_LIMIT);
            return Rest.of(cay);
        }

        void play(List<String> parts) throws Exception {
            try (var script = script()) {
                if (parts.contains(TRAFFIC)) {
                    traffic(script, stage.sandboxes(WOKEN));
                }
                if (parts.contains(LOAD)) {
                    load(script, stage.sandboxes(CYCLED));
                }
            }
        }

        /// By host names, as a browser would come. Its connections end with it.
        private Script script() throws IOException, InterruptedException {
            return Script.start(
                    stage.client(),
                    cay.environment(OwnCay.Mode.DOMAIN),
                    RushProof.class,
                    "rush.mjs",
                    cay.directory().toString(),
                    cay.url().toString(),
                    way.from);
        }

        private void traffic(Script script, int count) throws IOException, InterruptedException {
            stage.say("%d sandboxes fall asleep, and are wanted".formatted(count));
            var found = order(script, TRAFFIC, count);
            var each = Times.of(found.get("each"));
            double seconds = found.get("woken").asDouble() / 1000;
            summary.add(String.format(
                    Locale.ROOT,
                    "%d resumed by traffic in %.1f s (slowest %.1f s)",
                    count,
                    seconds,
                    each.at(1) / 1000));
            details.add(String.format(
                    Locale.ROOT,
                    "%d requests at once to %d sandboxes that had paused by themselves within %.1f s of their time's end:"
                            + " each answered after p50 %.1f s, p99 %.1f s",
                    found.get("requests").asInt(),
                    count,
                    found.get("slept").asDouble() / 1000,
                    each.p50() / 1000,
                    each.p99() / 1000));
            stage.say(summary.getLast());
        }

        private void load(Script script, int count) throws Exception {
            stage.say("%d sandboxes are paused and resumed, while %d others work".formatted(count, NEIGHBOURS));
            try (var neighbours = new Neighbours(() -> RemoteSandbox.create(cay.url(), cay.key(), LIFE), NEIGHBOURS)) {
                neighbours.start();
                var found = order(script, LOAD, count);
                noteLoad(count, found, neighbours.take(), neighbours.failure());
            }
        }

        private void noteLoad(int count, JsonNode found, Pace pace, String failure) {
            double seconds = found.get("took").asDouble() / 1000;
            summary.add(String.format(Locale.ROOT, "%d paused and resumed under load in %.0f s", count, seconds));
            details.add("pause %s; resume and answer by a request %s, by connect %s"
                    .formatted(
                            spread(found.get("pause")),
                            spread(found.get("byTraffic")),
                            spread(found.get("byConnect"))));
            details.add(String.format(
                    Locale.ROOT,
                    "neighbours: %d commands, %d failed; p50 %d ms, p99 %d ms, worst %d ms",
                    pace.commands(),
                    pace.failures(),
                    pace.p50().toMillis(),
                    pace.p99().toMillis(),
                    pace.worst().toMillis()));
            if (pace.failures() > 0 || pace.commands() == 0) {
                wrong.add("neighbours: %d of %d commands failed: %s"
                        .formatted(pace.failures(), pace.commands(), failure));
            }
            stage.say(summary.getLast());
        }

        Verdict judge(Set<String> before, Rest warm) throws IOException, InterruptedException {
            var left = new ArrayList<>(new DaemonResources(cay).left(before, GONE_LIMIT));
            var after = restLike(warm);
            left.addAll(after.grownSince(warm));
            details.add("when the daemon was warm: " + warm.line());
            details.add("at the end: " + after.line());
            wrong.forEach(line -> details.add("wrong: " + line));
            left.forEach(thing -> details.add("left: " + thing));
            summary.add("%d wrong".formatted(wrong.size()));
            summary.add("%d left".formatted(left.size()));
            return new Verdict(
                    wrong.isEmpty() && left.isEmpty(), way.word() + ": " + String.join(", ", summary), details);
        }

        /// Connections and threads that nobody needs any more go after a while.
        private Rest restLike(Rest warm) throws IOException, InterruptedException {
            long end = System.nanoTime() + GONE_LIMIT.toNanos();
            while (true) {
                var rest = Rest.of(cay);
                if (rest.grownSince(warm).isEmpty() || System.nanoTime() > end) {
                    return rest;
                }
                Thread.sleep(1000);
            }
        }

        private JsonNode order(Script script, String what, int count) throws IOException, InterruptedException {
            script.tell(what + " " + count);
            var found = script.next(LIMIT);
            while (!found.has("done")) {
                stage.say(found.get("step").asString());
                found = script.next(LIMIT);
            }
            found.get("wrong").forEach(line -> {
                wrong.add(line.asString());
                stage.say("wrong: " + line.asString());
            });
            return found;
        }

        private static String spread(JsonNode milliseconds) {
            var times = Times.of(milliseconds);
            return String.format(Locale.ROOT, "p50 %.1f s, worst %.1f s", times.p50() / 1000, times.at(1) / 1000);
        }
    }
}
