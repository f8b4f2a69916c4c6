package dev.cay.bench;

import dev.cay.life.Progress;
import dev.cay.platform.OwnCay;
import dev.cay.platform.Script;
import dev.cay.platform.Times;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/// Builds of templates, and sandboxes whose server runs when they are created.
final class Building implements Measurement {
    private static final Duration LIMIT = Duration.ofMinutes(10);
    private static final int RUNS = 5;
    private static final int CROWD = 20;
    private static final double CACHED_MS = 1000;
    private static final double SPARE_MS = 50;
    private static final double RESTORED_MS = 400;

    @Override
    public String name() {
        return "build";
    }

    @Override
    public List<Figure> run(Progress progress) throws Exception {
        var figures = new ArrayList<Figure>();
        String method = "JS SDK by plain URLs, n=%d".formatted(RUNS);
        try (var cay = OwnCay.start(Map.of());
                var script = Script.start(cay, Building.class, "build.mjs", cay.directory(), RUNS, CROWD)) {
            var built = script.next(LIMIT);
            figures.add(Figure.of(
                    "template of three steps, nothing known, p50",
                    "ms",
                    Times.of(built.get("cold")).p50(),
                    method));
            figures.add(Figure.of(
                            "the same again, p50",
                            "ms",
                            Times.of(built.get("cached")).p50(),
                            method)
                    .atMost(CACHED_MS));
            figures.add(Figure.of(
                    "the same with another file to copy, p50",
                    "ms",
                    Times.of(built.get("changed")).p50(),
                    method));
            progress.detail("builds measured");
            var served = script.next(LIMIT);
            double byHand = Times.of(served.get("byHand")).p50();
            figures.add(Figure.of(
                            "create → first answer of the template's server, spare, p50",
                            "ms",
                            Times.of(served.get("spare")).p50(),
                            method)
                    .beside("create of base, server started by hand", byHand)
                    .atMost(SPARE_MS));
            figures.add(Figure.of(
                            "the same, restored",
                            "ms",
                            Times.of(served.get("restored")).p50(),
                            "JS SDK by plain URLs, once")
                    .beside("create of base, server started by hand", byHand)
                    .atMost(RESTORED_MS));
            figures.add(Figure.of(
                    "%d at once until each server has answered".formatted(CROWD),
                    "s",
                    served.get("together").asDouble() / 1000,
                    "JS SDK; %d failed".formatted(served.get("failed").asInt())));
        }
        return figures;
    }
}
