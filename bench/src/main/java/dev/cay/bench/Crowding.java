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
import java.util.Map;

/// A thousand idle sandboxes: what each costs, and whether the next is made as fast as the first.
public final class Crowding implements Measurement {
    /// Room for them all: addresses, and a pool in which each has its few files.
    public static final Map<String, String> SETTINGS = OwnCay.LARGE;

    private static final Duration LIMIT = Duration.ofMinutes(15);
    private static final int COUNT = 1000;

    /// What was found.
    ///
    /// @param few      create times while there were about ten
    /// @param many     create times while there were about a thousand
    /// @param megabytes memory each, all in
    /// @param idle     CPU of the daemon with all of them idle
    /// @param seconds  to end them all
    public record Crowd(Times few, Times many, double megabytes, Figure idle, double seconds) {}

    @Override
    public String name() {
        return "density";
    }

    @Override
    public List<Figure> run(Progress progress) throws Exception {
        try (var cay = OwnCay.start(SETTINGS)) {
            return figures(gather(cay, COUNT, progress));
        }
    }

    /// Creates, measures and kills so many sandboxes.
    public static Crowd gather(OwnCay cay, int count, Progress progress) throws IOException, InterruptedException {
        try (var script = Script.start(cay, Crowding.class, "crowd.mjs", count)) {
            script.next(LIMIT);
            long before = available();
            script.tell("fill");
            var few = Times.of(script.next(LIMIT).get("times"));
            for (var step = script.next(LIMIT); step.has("made"); step = script.next(LIMIT)) {
                progress.detail(step.get("made").asInt() + " sandboxes");
            }
            var many = Times.of(script.next(LIMIT).get("times"));
            double each = (before - available()) / 1024.0 / count;
            var idle = Starting.idle(cay.daemon());
            script.tell("empty");
            double seconds = script.next(LIMIT).get("seconds").asDouble();
            return new Crowd(few, many, each, idle, seconds);
        }
    }

    public static List<Figure> figures(Crowd crowd) {
        var figures = new ArrayList<Figure>();
        figures.add(Figure.of(
                        "memory of an idle sandbox, all in",
                        "MB",
                        crowd.megabytes(),
                        "MemAvailable before and after 1,000 sandboxes, each of which has run a command")
                .atMost(3));
        figures.add(Figure.of(
                        "create with 1,000 sandboxes there, p50",
                        "ms",
                        crowd.many().p50(),
                        "JS SDK, one after the other, n=" + crowd.many().count())
                .beside("with 10 there", crowd.few().p50())
                .atMostTimes(1.3));
        var idle = crowd.idle();
        figures.add(Figure.of("idle daemon with 1,000 sandboxes", idle.unit(), idle.value(), idle.method())
                .atMost(5));
        figures.add(Figure.of("killing 1,000 sandboxes", "s", crowd.seconds(), "JS SDK, 8 at a time"));
        return figures;
    }

    private static long available() throws IOException {
        for (var line : Files.readAllLines(Path.of("/proc/meminfo"))) {
            if (line.startsWith("MemAvailable:")) {
                return Long.parseLong(line.replaceAll("\\D", ""));
            }
        }
        throw new IOException("no MemAvailable in /proc/meminfo");
    }
}
