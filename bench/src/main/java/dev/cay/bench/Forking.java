package dev.cay.bench;

import dev.cay.life.Progress;
import dev.cay.platform.OwnCay;
import dev.cay.platform.Script;
import dev.cay.platform.Times;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/// Copies of a running sandbox, snapshots of it, and requests that wake it.
final class Forking implements Measurement {
    private static final Duration LIMIT = Duration.ofMinutes(10);
    private static final int MEGABYTES = 16;
    private static final int LARGE = 512;
    private static final int RUNS = 5;
    private static final Map<String, String> SETTINGS =
            Map.of("sandboxes.spares", "0", "pause.frozenMemoryMB", "0", "storage.poolSizeMB", "24GB");
    private static final int PROMISED = 10;
    private static final double PROMISED_SECONDS = 2;

    @Override
    public String name() {
        return "fork";
    }

    @Override
    public List<Figure> run(Progress progress) throws Exception {
        var figures = new ArrayList<Figure>();
        try (var cay = OwnCay.start(SETTINGS);
                var script = Script.start(cay, Forking.class, "fork.mjs", cay.directory(), MEGABYTES, LARGE, RUNS)) {
            for (int megabytes : List.of(MEGABYTES, MEGABYTES, MEGABYTES, LARGE)) {
                figures.addAll(forks(script.next(LIMIT), megabytes));
                var last = figures.getLast();
                progress.detail(last.name() + ": " + Figure.number(last.value()) + " " + last.unit());
            }
            var saved = script.next(LIMIT);
            String method = "JS SDK, %d MiB dirty, n=%d".formatted(MEGABYTES, RUNS);
            figures.add(Figure.of("snapshot of a running sandbox, p50", "ms", p50(saved, "snapshot"), method));
            figures.add(
                    Figure.of("create from a snapshot → first command, p50", "ms", p50(saved, "fromSnapshot"), method));
            var woken = script.next(LIMIT);
            figures.add(Figure.of(
                            "request that wakes a paused sandbox, p50",
                            "ms",
                            p50(woken, "woken"),
                            "GET of a directory from `http.server`, %d MiB dirty, n=%d; restored from disk"
                                    .formatted(MEGABYTES, RUNS))
                    .beside("the same to a running one", p50(woken, "awake")));
        }
        return figures;
    }

    private static List<Figure> forks(JsonNode found, int megabytes) {
        int count = found.get("count").asInt();
        int failed = 0;
        for (var one : found.get("forks")) {
            failed += one.get("failed").asInt();
        }
        String method = "JS SDK, %d MiB dirty, n=%d; %d failed"
                .formatted(megabytes, found.get("forks").size(), failed);
        var made = Figure.of(
                "fork × %d, %d MiB dirty, p50".formatted(count, megabytes),
                "s",
                p50(found.get("forks"), "made") / 1000,
                method);
        var all = Figure.of(
                "fork × %d, %d MiB dirty, until each has run a command, p50".formatted(count, megabytes),
                "s",
                p50(found.get("forks"), "all") / 1000,
                method);
        return List.of(
                count == PROMISED && megabytes == LARGE ? made.atMost(failed == 0 ? PROMISED_SECONDS : 0) : made, all);
    }

    private static double p50(JsonNode found, String what) {
        if (!found.isArray()) {
            return Times.of(found.get(what)).p50();
        }
        var values = new double[found.size()];
        for (int i = 0; i < values.length; i++) {
            values[i] = found.get(i).get(what).asDouble();
        }
        return new Times(values).p50();
    }
}
