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
import java.util.HashMap;
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

    /// Half of all times with one amount of memory, in seconds.
    ///
    /// @param saved   from the request to the end of the save
    /// @param disk    resume until a command has answered, from the disk
    /// @param frozen  the same from the frozen original
    private record Row(int size, double pause, double saved, double disk, double frozen, PlainPauses plain) {
        @Override
        public String toString() {
            return String.format(
                    Locale.ROOT,
                    "%d MiB: pause %.3f s, saved %.2f s, resume from disk %.2f s, frozen %.2f s; runc alone %.2f s, %.2f s",
                    size,
                    pause,
                    saved,
                    disk,
                    frozen,
                    plain.checkpointSeconds(),
                    plain.restoreSeconds());
        }
    }

    @Override
    public String name() {
        return "pause";
    }

    @Override
    public List<Figure> run(Progress progress) throws Exception {
        var disk = new HashMap<Integer, JsonNode>();
        var plain = new HashMap<Integer, PlainPauses>();
        measure("0", "disk", (size, found, cay) -> {
            disk.put(size, found);
            plain.put(size, PlainPauses.measure(cay, size, RUNS));
        });
        var rows = new ArrayList<Row>();
        measure("12GB", "frozen", (size, found, _) -> {
            rows.add(new Row(
                    size,
                    seconds(found, "pause"),
                    seconds(found, "saved"),
                    seconds(Objects.requireNonNull(disk.get(size)), "resume"),
                    seconds(found, "resume"),
                    Objects.requireNonNull(plain.get(size))));
            progress.detail(rows.getLast().toString());
        });
        return figures(rows);
    }

    private interface Found {
        void take(int size, JsonNode times, OwnCay cay) throws IOException, InterruptedException;
    }

    private static void measure(String frozenMemory, String from, Found each) throws Exception {
        var settings = Map.of(
                "sandboxes.memoryMB", "6GB",
                "sandboxes.spares", "0",
                "storage.poolSizeMB", "24GB",
                "pause.frozenMemoryMB", frozenMemory);
        try (var cay = OwnCay.start(settings)) {
            var arguments = new ArrayList<Object>(List.of(cay.directory(), RUNS, from));
            arguments.addAll(SIZES);
            try (var script = Script.start(cay, Pausing.class, "pause.mjs", arguments.toArray())) {
                for (int size : SIZES) {
                    each.take(size, script.next(LIMIT), cay);
                    script.tell("on");
                }
            }
        }
    }

    private static double seconds(JsonNode found, String what) {
        return Times.of(found.get(what)).p50() / 1000;
    }

    private static List<Figure> figures(List<Row> rows) {
        String method =
                "JS SDK by plain URLs, a Python process with random pages, n=%d after one more; images in the page cache; runc with the same CRIU and disk"
                        .formatted(RUNS);
        var figures = new ArrayList<Figure>();
        for (var row : rows) {
            figures.add(Figure.of("pause answered, %d MiB dirty, p50".formatted(row.size), "s", row.pause, method)
                    .atMost(MOST_TO_ANSWER));
        }
        for (var row : rows) {
            figures.add(Figure.of("pause until saved, %d MiB dirty, p50".formatted(row.size), "s", row.saved, method)
                    .beside("`runc checkpoint`", row.plain.checkpointSeconds())
                    .atMost(row.plain.checkpointSeconds()));
        }
        for (var row : rows) {
            figures.add(Figure.of(
                            "resume from disk → first command, %d MiB dirty, p50".formatted(row.size),
                            "s",
                            row.disk,
                            method)
                    .beside("`runc restore` + `runc exec`", row.plain.restoreSeconds())
                    .atMost(MOST_FROM_DISK));
        }
        for (var row : rows) {
            figures.add(Figure.of(
                            "resume of a frozen one → first command, %d MiB dirty, p50".formatted(row.size),
                            "s",
                            row.frozen,
                            method)
                    .atMost(MOST_FROZEN));
        }
        return figures;
    }

    /// The same by the container runtime alone.
    ///
    /// @param restore until a command in it has answered
    private record PlainPauses(Times checkpoint, Times restore) {
        private static final Duration FILL_LIMIT = Duration.ofMinutes(2);

        double checkpointSeconds() {
            return checkpoint.p50() / 1000;
        }

        double restoreSeconds() {
            return restore.p50() / 1000;
        }

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
