package dev.cay.bench;

import dev.cay.life.Progress;
import dev.cay.platform.OwnCay;
import dev.cay.platform.Script;
import dev.cay.platform.Times;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// Resumes with more and more memory, which comes back while the sandbox runs, beside the same with all of it at once.
final class Restoring implements Measurement {
    private static final Duration LIMIT = Duration.ofMinutes(20);
    private static final List<Integer> SIZES = List.of(16, 512, 4096);
    private static final int RUNS = 3;
    private static final double PROMISED = 0.2;

    @Override
    public String name() {
        return "state";
    }

    @Override
    public List<Figure> run(Progress progress) throws Exception {
        var lazy = measure(true, progress);
        var eager = measure(false, progress);
        String method =
                "JS SDK by plain URLs, a Python process with random pages, n=%d; resumed when the original was gone, images in the page cache"
                        .formatted(RUNS);
        var figures = new ArrayList<Figure>();
        lazy.forEach((size, seconds) -> figures.add(
                Figure.of("resume → first command, %d MiB dirty, lazily, p50".formatted(size), "s", seconds, method)
                        .beside("all memory at once", eager.getOrDefault(size, Double.NaN))
                        .atMost(PROMISED)));
        return figures;
    }

    /// Half of all times with each amount of memory, in seconds.
    private static Map<Integer, Double> measure(boolean lazily, Progress progress)
            throws IOException, InterruptedException {
        var settings = Map.of(
                "sandboxes.memoryMB",
                "6GB",
                "sandboxes.spares",
                "0",
                "storage.poolSizeMB",
                "24GB",
                "sandboxes.lazyMemory",
                Boolean.toString(lazily));
        var found = new LinkedHashMap<Integer, Double>();
        try (var cay = OwnCay.start(settings)) {
            var arguments = new ArrayList<Object>(List.of(cay.directory(), RUNS));
            arguments.addAll(SIZES);
            try (var script = Script.start(cay, Pausing.class, "pause.mjs", arguments.toArray())) {
                for (int size : SIZES) {
                    double seconds = Times.of(script.next(LIMIT).get("resume")).p50() / 1000;
                    found.put(size, seconds);
                    progress.detail("%d MiB, %s: %.3f s".formatted(size, lazily ? "lazily" : "at once", seconds));
                    script.tell("on");
                }
            }
        }
        return found;
    }
}
