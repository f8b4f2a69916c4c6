package dev.cay.bench;

import dev.cay.life.Progress;
import dev.cay.platform.OwnCay;
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
import java.util.function.Function;
import tools.jackson.databind.JsonNode;

/// Pauses and resumes with more and more memory, beside the container runtime's own checkpoint and restore.
final class Pausing implements Measurement {
    private static final Duration LIMIT = Duration.ofMinutes(10);
    private static final List<Integer> SIZES = List.of(16, 64, 256, 512, 1024);
    private static final int PROMISED = 512;
    private static final int RUNS = 5;

    /// Half of all times with one amount of memory, in seconds.
    private record Row(int size, double pause, double resume, double plainPause, double plainResume) {
        @Override
        public String toString() {
            return String.format(
                    Locale.ROOT,
                    "%d MiB: pause %.2f s, resume %.2f s; runc alone %.2f s, %.2f s",
                    size,
                    pause,
                    resume,
                    plainPause,
                    plainResume);
        }
    }

    @Override
    public String name() {
        return "pause";
    }

    @Override
    public List<Figure> run(Progress progress) throws Exception {
        var settings = Map.of("sandboxes.memoryMB", "2GB", "sandboxes.spares", "0", "storage.poolSizeMB", "12GB");
        var arguments = new ArrayList<Object>();
        var rows = new ArrayList<Row>();
        double thaw = Double.NaN;
        try (var cay = OwnCay.start(settings)) {
            arguments.addAll(List.of(cay.directory(), RUNS));
            arguments.addAll(SIZES);
            try (var script = Script.start(cay, Pausing.class, "pause.mjs", arguments.toArray())) {
                for (int size : SIZES) {
                    var found = script.next(LIMIT);
                    rows.add(row(found, PlainPauses.measure(cay, size, RUNS)));
                    progress.detail(rows.getLast().toString());
                    thaw = size == PROMISED ? seconds(found, "thaw") : thaw;
                    script.tell("on");
                }
            }
        }
        return figures(rows, thaw);
    }

    private static Row row(JsonNode found, PlainPauses plain) {
        return new Row(
                found.get("size").asInt(),
                seconds(found, "pause"),
                seconds(found, "resume"),
                plain.checkpoint().p50() / 1000,
                plain.restore().p50() / 1000);
    }

    private static double seconds(JsonNode found, String what) {
        return Times.of(found.get(what)).p50() / 1000;
    }

    private static List<Figure> figures(List<Row> rows, double thaw) {
        String method =
                "JS SDK by plain URLs, a Python process with random pages, n=%d; resumed when the original was gone, images in the page cache; runc with the same CRIU and disk"
                        .formatted(RUNS);
        var figures = new ArrayList<Figure>();
        for (var row : rows) {
            var pause = Figure.of("pause, %d MiB dirty, p50".formatted(row.size), "s", row.pause, method)
                    .beside("`runc checkpoint`", row.plainPause);
            figures.add(row.size == PROMISED ? pause.atMost(0.7) : pause);
        }
        for (var row : rows) {
            var resume = Figure.of(
                            "resume → first command, %d MiB dirty, p50".formatted(row.size), "s", row.resume, method)
                    .beside("`runc restore` + `runc exec`", row.plainResume);
            figures.add(row.size == PROMISED ? resume.atMost(0.5) : resume);
        }
        String slope = "least squares over %s MiB".formatted(SIZES);
        figures.add(Figure.of("pause, each MiB more", "ms", 1000 * slope(rows, Row::pause), slope)
                .beside("`runc checkpoint`", 1000 * slope(rows, Row::plainPause)));
        figures.add(Figure.of("resume, each MiB more", "ms", 1000 * slope(rows, Row::resume), slope)
                .beside("`runc restore`", 1000 * slope(rows, Row::plainResume)));
        figures.add(Figure.of(
                "resume at once, of a frozen original → first command, %d MiB dirty, p50".formatted(PROMISED),
                "s",
                thaw,
                "as above, but before the disk had all of it"));
        return figures;
    }

    private static double slope(List<Row> rows, Function<Row, Double> value) {
        double x = rows.stream().mapToDouble(Row::size).average().orElse(0);
        double y = rows.stream().mapToDouble(value::apply).average().orElse(0);
        double above = rows.stream()
                .mapToDouble(row -> (row.size - x) * (value.apply(row) - y))
                .sum();
        double below = rows.stream()
                .mapToDouble(row -> (row.size - x) * (row.size - x))
                .sum();
        return above / below;
    }

    /// The same by the container runtime alone.
    ///
    /// @param restore until a command in it has answered
    private record PlainPauses(Times checkpoint, Times restore) {
        private static final Duration FILL_LIMIT = Duration.ofMinutes(2);

        /// Images go where Cay's go, by the program that Cay uses.
        static PlainPauses measure(OwnCay cay, int size, int runs) throws IOException, InterruptedException {
            var program = List.of(
                    "/usr/bin/python3",
                    "-c",
                    "import os, time; kept = [os.urandom(1 << 20) for _ in range(%d)]; time.sleep(9999)"
                            .formatted(size));
            Path criu = criu(cay);
            Path place = Files.createDirectories(cay.directory().resolve("state/pool/bench"));
            var times = new double[2][runs];
            try (var runc = new Runc(program)) {
                String name = runc.run();
                try {
                    awaitMemory(runc.firstProcess(name), size);
                    for (int i = 0; i < runs; i++) {
                        Path images = place.resolve("images-" + size + "-" + i);
                        times[0][i] = Runc.time(() -> runc.checkpoint(name, criu, images));
                        Runc.call(place, List.of("sync", "-f", "."));
                        times[1][i] = Runc.time(() -> {
                            runc.restore(name, criu, images);
                            runc.exec(name);
                        });
                        Runc.call(place, List.of("rm", "-r", images.toString()));
                    }
                } finally {
                    runc.delete(name);
                }
            }
            return new PlainPauses(new Times(times[0]), new Times(times[1]));
        }

        private static Path criu(OwnCay cay) throws IOException {
            try (var files = Files.walk(cay.directory().resolve("state/guest"), 2)) {
                return files.filter(file -> file.endsWith("criu") && Files.isExecutable(file))
                        .findFirst()
                        .orElse(Path.of("criu"));
            }
        }

        private static void awaitMemory(long pid, int size) throws IOException, InterruptedException {
            long end = System.nanoTime() + FILL_LIMIT.toNanos();
            while (resident(pid) < size) {
                if (System.nanoTime() > end) {
                    throw new IOException("the container does not fill its memory");
                }
                Thread.sleep(50);
            }
        }

        private static long resident(long pid) throws IOException {
            return Files.readAllLines(Path.of("/proc", Long.toString(pid), "status")).stream()
                    .filter(line -> line.startsWith("VmRSS:"))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) / 1024)
                    .findFirst()
                    .orElse(0);
        }
    }
}
