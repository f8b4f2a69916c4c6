package dev.cay.prove;

import dev.cay.life.Trees;
import dev.cay.platform.OwnCay;
import dev.cay.platform.RemoteSandbox;
import dev.cay.platform.Script;
import dev.cay.platform.Times;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// One sandbox with many kinds of programs is paused and resumed repeatedly, and no program inside notices.
final class CyclesProof implements Proof {
    private static final int CYCLES = 100;
    private static final int SAY_EVERY = 5;
    private static final int FORK_EVERY = 10;
    /// Two of three wait until the original is gone; the others most likely find it frozen.
    private static final int THAW_EVERY = 3;
    /// In the first the client comes back as soon as the daemon does. Later ones would leave too few to see a leak in.
    private static final Set<Integer> CRASHES = Set.of(12, 25);
    private static final int COMPRESSED_CYCLE = 50;
    private static final int WARM_UP = 5;
    private static final int SLACK = 12;
    private static final Duration LIMIT = Duration.ofMinutes(5);
    private static final Duration GONE_LIMIT = Duration.ofMinutes(2);

    private static final String PAUSES = "pauses";
    private static final String FORKS = "forks";

    /// With memory that comes back while the sandbox runs, and with all of it at once.
    private static final String LAZY = "lazy";

    private static final String EAGER = "eager";

    @Override
    public String name() {
        return "cycles";
    }

    @Override
    public String promise() {
        return CYCLES
                + " pauses of one sandbox with terminals, servers, connections, a JVM, a database and orphans, and"
                + " forks and crashes of the daemon between them: nothing is lost, doubled or changed, and nothing is left";
    }

    @Override
    public Verdict run(Stage stage) throws Exception {
        var parts = Set.copyOf(stage.chosen(List.of(PAUSES, FORKS, LAZY, EAGER), part -> part));
        var verdicts = new ArrayList<Verdict>();
        for (String restore : List.of(LAZY, EAGER)) {
            if (parts.contains(restore) || (!parts.contains(LAZY) && !parts.contains(EAGER))) {
                stage.say("restores: " + restore);
                verdicts.add(run(stage, parts, restore));
                stage.endDaemons();
            }
        }
        return Verdict.all(verdicts);
    }

    private static Verdict run(Stage stage, Set<String> parts, String restore) throws Exception {
        var cay = stage.cay(Map.of(
                "sandboxes.memoryMB",
                "2GB",
                "sandboxes.spares",
                "0",
                // Most cycles restore from disk.
                "pause.frozenMemoryMB",
                "0",
                "sandboxes.lazyMemory",
                Boolean.toString(restore.equals(LAZY))));
        var household = new DaemonResources(cay);
        // The first sandbox of all makes what stays for the others.
        RemoteSandbox.create(cay.url(), cay.key()).close();
        var before = household.things();
        var directory = Files.createTempDirectory("cay-cycles-");
        try (var script = script(cay, directory)) {
            var sandbox = script.next(LIMIT).get("sandbox").asString();
            var run = new Run(stage, cay, household, script, sandbox, parts);
            run.go();
            return run.judge(before, restore);
        } finally {
            Trees.delete(directory);
        }
    }

    private static Script script(OwnCay cay, Path directory) throws IOException, InterruptedException {
        Path residents = directory.resolve("residents.py");
        try (var in = CyclesProof.class.getResourceAsStream("residents.py")) {
            if (in == null) {
                throw new IllegalStateException("no resource residents.py");
            }
            Files.copy(in, residents);
        }
        return Script.start(
                cay, CyclesProof.class, "cycles.mjs", residents, SmallJava.with(JavaResident.class, directory));
    }

    /// What happened so far.
    private static final class Run {
        private final Stage stage;
        private final OwnCay cay;
        private final DaemonResources household;
        private final Script script;
        private final String sandbox;
        private final Set<String> parts;
        private final long end;
        private final List<String> wrong = new ArrayList<>();
        private final List<Double> pauses = new ArrayList<>();
        private final List<Double> restores = new ArrayList<>();
        private final List<Double> thaws = new ArrayList<>();
        private final List<Double> forks = new ArrayList<>();
        private int crashes;
        private int warmAt = WARM_UP;
        /// Of the daemon that runs now, when it had warmed up.
        private @Nullable HostCounters early;

        Run(Stage stage, OwnCay cay, DaemonResources household, Script script, String sandbox, Set<String> parts) {
            this.stage = stage;
            this.cay = cay;
            this.household = household;
            this.script = script;
            this.sandbox = sandbox;
            this.parts = parts;
            int minutes = stage.minutes(0);
            this.end = System.nanoTime()
                    + Duration.ofMinutes(minutes == 0 ? 24 * 60 : minutes).toNanos();
        }

        void go() throws IOException, InterruptedException {
            for (int cycle = 1; cycle <= CYCLES && System.nanoTime() < end; cycle++) {
                if (!cycle(cycle)) {
                    return;
                }
                if (cycle == warmAt) {
                    early = HostCounters.read(cay.daemon().pid());
                }
                if (cycle % SAY_EVERY == 0) {
                    stage.say("cycle %d: %d restored, %d thawed, %d forked, %d wrong; pause %s, restore %s, thaw %s"
                            .formatted(
                                    cycle,
                                    restores.size(),
                                    thaws.size(),
                                    forks.size(),
                                    wrong.size(),
                                    middle(pauses),
                                    middle(restores),
                                    middle(thaws)));
                }
            }
        }

        /// @return whether there can be another
        private boolean cycle(int cycle) throws IOException, InterruptedException {
            long process = household.firstProcess(sandbox);
            var paused = order("pause", cycle);
            if (paused.has("broken")) {
                return false;
            }
            pauses.add(paused.get("took").asDouble());
            whilePaused(cycle);
            var resumed = order("resume", cycle);
            if (resumed.has("broken")) {
                return false;
            }
            (household.firstProcess(sandbox) == process ? thaws : restores)
                    .add(resumed.get("took").asDouble());
            if (cycle % FORK_EVERY == 0 && parts.contains(FORKS)) {
                var forked = order("fork", cycle);
                if (!forked.has("broken")) {
                    forks.add(forked.get("took").asDouble());
                }
            }
            return true;
        }

        private void whilePaused(int cycle) throws IOException, InterruptedException {
            if (CRASHES.contains(cycle)) {
                cay.crash();
                cay.startAgain();
                order("up", cycle);
                warmAt = cycle + WARM_UP;
                crashes++;
            }
            if (cycle % THAW_EVERY != 0) {
                await(cycle, "the original is still there", () -> !household.houses(sandbox));
            }
            if (cycle == COMPRESSED_CYCLE) {
                await(cycle, "what was saved is not compressed", () -> household.isCompressed(sandbox));
            }
        }

        private void await(int cycle, String otherwise, BooleanSupplier event) throws InterruptedException {
            long limit = System.nanoTime() + GONE_LIMIT.toNanos();
            while (!event.getAsBoolean()) {
                if (System.nanoTime() > limit) {
                    wrong.add("cycle %d: %s after %s".formatted(cycle, otherwise, GONE_LIMIT));
                    return;
                }
                Thread.sleep(20);
            }
        }

        private JsonNode order(String order, int cycle) throws IOException, InterruptedException {
            script.tell(order);
            var answer = script.next(LIMIT);
            answer.get("wrong").forEach(line -> {
                wrong.add("cycle %d: %s".formatted(cycle, line.asString()));
                stage.say(wrong.getLast());
            });
            return answer;
        }

        Verdict judge(Set<String> before, String restore) throws IOException, InterruptedException {
            var late = HostCounters.read(cay.daemon().pid());
            var found = order("finish", pauses.size());
            if (early != null) {
                wrong.addAll(late.grownSince(early, SLACK, "daemonFds", "daemonThreads"));
            }
            household.left(before, GONE_LIMIT).forEach(thing -> wrong.add("left: " + thing));
            var details = new ArrayList<String>();
            details.add(
                    "inside: Python with 64 MB, a JVM (brought along, the template has none), Node, SQLite, locks, a keep-alive connection, terminals, orphans");
            details.add("rows %s, lines %s, numbers %s, files %s"
                    .formatted(found.path("rows"), found.path("lines"), found.path("numbers"), found.path("files")));
            details.add("pause %s, restore → connected %s, thaw → connected %s, fork %s; half of them, milliseconds"
                    .formatted(middle(pauses), middle(restores), middle(thaws), middle(forks)));
            details.add("the first quarter of them: pause %s, restore %s; the last: pause %s, restore %s"
                    .formatted(first(pauses), first(restores), first(pauses.reversed()), first(restores.reversed())));
            details.add("when the daemon was warm: " + early);
            details.add("at the end: " + late);
            details.addAll(wrong);
            return new Verdict(
                    wrong.isEmpty(),
                    "%s: %d cycles: %d restored from disk, %d thawed; %d forks; %d crashes of the daemon meanwhile; %d wrong"
                            .formatted(
                                    restore,
                                    pauses.size(),
                                    restores.size(),
                                    thaws.size(),
                                    forks.size(),
                                    crashes,
                                    wrong.size()),
                    details);
        }

        private static String first(List<Double> values) {
            return middle(values.subList(0, values.size() / 4));
        }

        private static String middle(List<Double> values) {
            return values.isEmpty()
                    ? "–"
                    : String.format(
                            Locale.ROOT,
                            "%.0f",
                            new Times(values.stream()
                                            .mapToDouble(Double::doubleValue)
                                            .toArray())
                                    .p50());
        }
    }
}
