package dev.cay.bench;

import dev.cay.life.Progress;
import dev.cay.platform.NpmClient;
import dev.cay.platform.OwnCay;
import dev.cay.platform.Script;
import dev.cay.platform.Times;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/// Cells of the code interpreter: short ones in every language, the first ones of new sandboxes, large ones.
final class Interpreting implements Measurement {
    private static final Duration LIMIT = Duration.ofMinutes(10);
    private static final String CLIENT = "@e2b/code-interpreter";
    private static final String VERSION = "2.8.0";
    private static final int CELLS = 200;
    private static final int LANGUAGES = 6;
    private static final int SANDBOXES = 8;

    /// Between sandboxes, so that each finds one that was brought back in advance.
    private static final int REST_MILLIS = 4000;

    @Override
    public String name() {
        return "interpreter";
    }

    @Override
    public List<Figure> run(Progress progress) throws Exception {
        var figures = new ArrayList<Figure>();
        try (var cay = OwnCay.start(settings("8"))) {
            cells(cay, figures, progress);
            first(cay, "of one in stock", REST_MILLIS, 50, figures, progress);
        }
        try (var cay = OwnCay.start(settings("0"))) {
            first(cay, "brought back for it", 0, 200, figures, progress);
        }
        return figures;
    }

    private static Map<String, String> settings(String spares) {
        return Map.of(
                "templates.prepare", "code-interpreter-v1",
                "sandboxes.spares", spares,
                "storage.poolSizeMB", "12GB");
    }

    private static Script script(OwnCay cay, String... arguments) throws Exception {
        return Script.start(
                NpmClient.install(CLIENT, VERSION),
                cay.environment(OwnCay.Mode.URL),
                Interpreting.class,
                "interpret.mjs",
                arguments);
    }

    private static void cells(OwnCay cay, List<Figure> figures, Progress progress) throws Exception {
        String method = "JS client by plain URLs, `runCode`, n=%d after as many".formatted(CELLS);
        try (var script = script(cay, "cells", Integer.toString(CELLS))) {
            for (int i = 0; i < LANGUAGES; i++) {
                var found = script.next(LIMIT);
                String language = found.get("language").asString();
                var times = Times.of(found.get("times"));
                var host = Times.of(found.get("host")).p50();
                var short50 = Figure.of("`1+1` in %s, warm, p50".formatted(language), "ms", times.p50(), method);
                figures.add((language.equals("python") ? short50.atMost(5) : short50)
                        .beside("a loop of Python on the host", host));
                figures.add(Figure.of("`1+1` in %s, warm, p99".formatted(language), "ms", times.p99(), method));
                progress.detail("%s: %.1f ms".formatted(language, times.p50()));
            }
            starts(script.next(LIMIT), figures);
            var large = script.next(LIMIT);
            figures.add(Figure.of(
                    "10 MB printed by a cell",
                    "MB/s",
                    large.get("bytes").asDouble() / 1000 / large.get("printed").asDouble(),
                    "10,000 lines, to the client's callback"));
            figures.add(Figure.of("a plot with its chart, p50", "ms", p50(large, "plot"), "three points, n=5"));
            figures.add(Figure.of(
                    "10 contexts at once", "ms", large.get("parallel").asDouble(), "a loop of 50,000 in bash each"));
        }
    }

    private static void starts(JsonNode found, List<Figure> figures) {
        figures.add(Figure.of(
                "a new context of Python and its first cell, p50",
                "ms",
                p50(found, "context"),
                "four seconds apart, n=3"));
        figures.add(Figure.of(
                "the same with no runner started in advance",
                "ms",
                p50(found, "coldContext"),
                "right after another, n=1"));
        for (String language : List.of("Python", "Javascript")) {
            figures.add(Figure.of(
                    "restart of a context of %s and its first cell, p50".formatted(language),
                    "ms",
                    p50(found, "cold" + language),
                    "n=3"));
        }
        figures.add(Figure.of(
                "memory of a sandbox with warm Python and JavaScript, its own",
                "MB",
                found.get("ownMemory").asDouble(),
                "private pages of all its processes; %.0f MB with its part of shared ones"
                        .formatted(found.get("proportionalMemory").asDouble())));
    }

    private static void first(
            OwnCay cay, String how, int rest, double promised, List<Figure> figures, Progress progress)
            throws Exception {
        String method = "JS client by plain URLs, n=%d".formatted(SANDBOXES);
        try (var script = script(cay, "first", Integer.toString(SANDBOXES), Integer.toString(rest))) {
            for (int i = 0; i < 2; i++) {
                var found = script.next(LIMIT);
                String language = found.get("language").asString();
                String name = "create → first cell in %s, sandbox %s, p50".formatted(language, how);
                var whole = Figure.of(name, "ms", p50(found, "whole"), method);
                figures.add(language.equals("python") ? whole.atMost(promised) : whole);
                figures.add(Figure.of(
                        "first cell alone in %s, sandbox %s, p50".formatted(language, how),
                        "ms",
                        p50(found, "cell"),
                        method));
                progress.detail("%s, %s: %.0f ms".formatted(how, language, p50(found, "whole")));
            }
        }
    }

    private static double p50(JsonNode found, String what) {
        return Times.of(found.get(what)).p50();
    }
}
