package dev.cay.prove;

import dev.cay.platform.OwnCay;
import dev.cay.platform.Script;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToLongFunction;

/// Runs sandboxes for a long time, and checks that the daemon releases all resources.
final class SoakProof implements Proof {
    private static final int FEWEST_SAMPLES = 8;
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final int SAMPLES_PER_MINUTE = 2;
    private static final int PER_SECOND = 5;

    /// The daemon's resources at one moment, measured after a garbage collection.
    private record Sample(long descriptors, long threads, long mounts, long cgroups, long heapKB, long residentKB) {
        String row(int number) {
            return "| %d | %d | %d | %d | %d | %.1f | %.1f |"
                    .formatted(number, descriptors, threads, mounts, cgroups, heapKB / 1024.0, residentKB / 1024.0);
        }
    }

    @Override
    public String name() {
        return "soak";
    }

    @Override
    public String promise() {
        return "30 minutes of create, run, write, read, kill at 5 per second: descriptors, threads, mounts, cgroups and heap "
                + "stay flat";
    }

    @Override
    public Verdict run(Stage stage) throws Exception {
        var cay = stage.cay(Map.of());
        try (var script = Script.start(cay, SoakProof.class, "soak.mjs", PER_SECOND)) {
            script.next(LIMIT);
            var samples = new ArrayList<Sample>();
            int count = stage.minutes(30) * SAMPLES_PER_MINUTE;
            for (int i = 1; i <= count; i++) {
                Thread.sleep(60_000 / SAMPLES_PER_MINUTE);
                script.tell("rest");
                var so = script.next(LIMIT);
                samples.add(sample(cay));
                script.tell("go on");
                stage.say("%d of %d: %d done, %d failed; %s"
                        .formatted(
                                i,
                                count,
                                so.get("done").asInt(),
                                so.get("failed").asInt(),
                                samples.getLast()));
            }
            script.tell("finish");
            var end = script.next(LIMIT);
            return judge(samples, end.get("done").asInt(), end.get("failed").asInt());
        }
    }

    /// The first quarter is for warming up: pools fill, code is compiled. The last quarter must be like the second.
    private static Verdict judge(List<Sample> samples, int done, int failed) {
        if (samples.size() < FEWEST_SAMPLES) {
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT,
                    "--minutes: %d samples tell nothing, %d are the least".formatted(samples.size(), FEWEST_SAMPLES));
        }
        int quarter = samples.size() / 4;
        var early = samples.subList(quarter, 2 * quarter);
        var late = samples.subList(samples.size() - quarter, samples.size());
        var wrong = new ArrayList<String>();
        check(wrong, "descriptors", early, late, Sample::descriptors, 30);
        check(wrong, "threads", early, late, Sample::threads, 10);
        check(wrong, "mounts", early, late, Sample::mounts, 3);
        check(wrong, "cgroups", early, late, Sample::cgroups, 10);
        check(wrong, "heap (KB)", early, late, Sample::heapKB, 8 * 1024);
        if (failed > 0) {
            wrong.add(failed + " rounds failed");
        }
        var details = new ArrayList<String>();
        details.add("| sample | descriptors | threads | mounts | cgroups | heap MB | resident MB |");
        details.add("|---|---|---|---|---|---|---|");
        for (int i = 0; i < samples.size(); i++) {
            details.add(samples.get(i).row(i + 1));
        }
        details.addAll(wrong);
        return new Verdict(
                wrong.isEmpty(),
                String.format(
                        Locale.ROOT,
                        "%d rounds, %d failed; heap %.0f → %.0f MB, descriptors %d → %d, threads %d → %d",
                        done,
                        failed,
                        middle(early, Sample::heapKB) / 1024.0,
                        middle(late, Sample::heapKB) / 1024.0,
                        middle(early, Sample::descriptors),
                        middle(late, Sample::descriptors),
                        middle(early, Sample::threads),
                        middle(late, Sample::threads)),
                details);
    }

    private static void check(
            List<String> wrong,
            String what,
            List<Sample> early,
            List<Sample> late,
            ToLongFunction<Sample> value,
            long slack) {
        long before = middle(early, value);
        long after = middle(late, value);
        if (after > before + slack) {
            wrong.add("%s grew from %d to %d".formatted(what, before, after));
        }
    }

    private static long middle(List<Sample> samples, ToLongFunction<Sample> value) {
        return samples.stream()
                .mapToLong(value)
                .sorted()
                .skip(samples.size() / 2)
                .findFirst()
                .orElse(0);
    }

    private static Sample sample(OwnCay cay) throws IOException, InterruptedException {
        var process = Path.of("/proc", Long.toString(cay.daemon().pid()));
        long used = new DaemonJvm(cay.daemon().pid()).heapKB();
        long cgroups = Traces.things(cay.instance(), cay.directory()).stream()
                .filter(thing -> thing.startsWith("cgroup"))
                .count();
        return new Sample(
                count(process.resolve("fd")),
                count(process.resolve("task")),
                Files.readAllLines(Path.of("/proc/mounts")).size(),
                cgroups,
                used,
                resident(process));
    }

    private static long resident(Path process) throws IOException {
        return Files.readAllLines(process.resolve("status")).stream()
                .filter(line -> line.startsWith("VmRSS:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
                .findFirst()
                .orElse(0);
    }

    private static long count(Path directory) throws IOException {
        try (var entries = Files.list(directory)) {
            return entries.count();
        }
    }
}
