package dev.cay.bench;

import dev.cay.life.Progress;
import dev.cay.platform.OwnCay;
import dev.cay.platform.Script;
import dev.cay.platform.Times;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import tools.jackson.databind.JsonNode;

/// Pauses and resumes with more and more memory, beside the container runtime's own checkpoint and restore.
final class Pausing implements Measurement {
    private static final Duration LIMIT = Duration.ofMinutes(10);
    private static final List<Integer> SIZES = List.of(16, 512, 4096);
    private static final int RUNS = 5;
    private static final double MOST_TO_ANSWER = 0.02;
    private static final double MOST_FROM_DISK = 0.2;
    private static final double MOST_FROZEN = 0.1;
    private static final double MOST_WITH_A_PASS = 1.3;

    /// How a sandbox gets its memory back.
    private enum Way {
        /// From disk, while it runs.
        LAZILY("0", true),
        /// From disk, before it runs.
        AT_ONCE("0", false),
        /// It never left: the frozen sandbox is thawed.
        FROZEN("12GB", true);

        private final String frozenMemory;
        private final boolean lazy;

        Way(String frozenMemory, boolean lazy) {
            this.frozenMemory = frozenMemory;
            this.lazy = lazy;
        }

        Map<String, String> settings() {
            return Map.of(
                    "sandboxes.memoryMB", "6GB",
                    "sandboxes.spares", "0",
                    "storage.poolSizeMB", "24GB",
                    "pause.frozenMemoryMB", frozenMemory,
                    "sandboxes.lazyMemory", Boolean.toString(lazy));
        }
    }

    /// Half of all times with one amount of memory, in seconds.
    ///
    /// @param pause   until the pause is answered
    /// @param saved   from the request to the end of the save
    /// @param resume  until a command has answered
    /// @param pass    the same, and then a pass over all of the memory
    private record Row(double pause, double saved, double resume, double pass) {
        static Row of(JsonNode found) {
            return new Row(
                    seconds(found, "pause"), seconds(found, "saved"), seconds(found, "resume"), seconds(found, "pass"));
        }

        private static double seconds(JsonNode found, String what) {
            return Times.of(found.get(what)).p50() / 1000;
        }

        @Override
        public String toString() {
            return String.format(
                    Locale.ROOT,
                    "pause %.3f s, saved %.2f s, resume %.3f s, with a pass over the memory %.2f s",
                    pause,
                    saved,
                    resume,
                    pass);
        }
    }

    /// All that was measured with one amount of memory, in MiB.
    private record Size(int size, Map<Way, Row> rows, RuncPauses runc) {
        Row row(Way way) {
            return Objects.requireNonNull(rows.get(way));
        }
    }

    @Override
    public String name() {
        return "state";
    }

    @Override
    public List<Figure> run(Progress progress) throws Exception {
        var sizes = new ArrayList<Size>();
        for (var way : Way.values()) {
            try (var cay = OwnCay.start(way.settings())) {
                if (sizes.isEmpty()) {
                    for (int size : SIZES) {
                        var runc = RuncPauses.measure(cay, size, RUNS);
                        progress.detail("%d MiB, runc alone: checkpoint %.2f s, restore %.2f s"
                                .formatted(size, runc.checkpointSeconds(), runc.restoreSeconds()));
                        sizes.add(new Size(size, new EnumMap<>(Way.class), runc));
                    }
                }
                measure(cay, way, sizes, progress);
            }
        }
        return figures(sizes);
    }

    private static void measure(OwnCay cay, Way way, List<Size> sizes, Progress progress)
            throws IOException, InterruptedException {
        String from = way == Way.FROZEN ? "frozen" : "disk";
        var arguments = new ArrayList<Object>(List.of(cay.directory(), RUNS, from));
        arguments.addAll(SIZES);
        try (var script = Script.start(cay, Pausing.class, "state.mjs", arguments.toArray())) {
            for (var size : sizes) {
                var row = Row.of(script.next(LIMIT));
                size.rows.put(way, row);
                progress.detail("%d MiB, %s: %s"
                        .formatted(
                                size.size, way.name().toLowerCase(Locale.ROOT).replace('_', ' '), row));
                script.tell("on");
            }
        }
    }

    private static List<Figure> figures(List<Size> sizes) {
        String method =
                "JS SDK by plain URLs, a Python process with random pages, n=%d after one more; images in the page cache; runc with the same CRIU and disk"
                        .formatted(RUNS);
        var figures = new ArrayList<Figure>();
        for (var size : sizes) {
            double slowest =
                    size.rows.values().stream().mapToDouble(Row::pause).max().orElseThrow();
            figures.add(Figure.of("pause answered, %d MiB dirty, p50".formatted(size.size), "s", slowest, method)
                    .atMost(MOST_TO_ANSWER));
        }
        for (var size : sizes) {
            figures.add(Figure.of(
                            "pause until saved, %d MiB dirty, p50".formatted(size.size),
                            "s",
                            size.row(Way.AT_ONCE).saved,
                            method)
                    .beside("`runc checkpoint`", size.runc.checkpointSeconds())
                    .atMostTimes(1));
        }
        for (var size : sizes) {
            figures.add(resume(size, Way.LAZILY, "from disk", method)
                    .beside("`runc restore` + `runc exec`", size.runc.restoreSeconds())
                    .atMost(MOST_FROM_DISK));
        }
        for (var size : sizes) {
            figures.add(resume(size, Way.AT_ONCE, "from disk, all memory at once,", method)
                    .beside("`runc restore` + `runc exec`", size.runc.restoreSeconds()));
        }
        for (var size : sizes) {
            figures.add(resume(size, Way.FROZEN, "of a frozen one", method).atMost(MOST_FROZEN));
        }
        for (var size : sizes) {
            figures.add(Figure.of(
                            "resume from disk → pass over %d MiB, p50".formatted(size.size),
                            "s",
                            size.row(Way.LAZILY).pass,
                            method)
                    .beside("all memory at once", size.row(Way.AT_ONCE).pass)
                    .atMostTimes(MOST_WITH_A_PASS));
        }
        return figures;
    }

    private static Figure resume(Size size, Way way, String how, String method) {
        return Figure.of(
                "resume %s → first command, %d MiB dirty, p50".formatted(how, size.size),
                "s",
                size.row(way).resume,
                method);
    }
}
