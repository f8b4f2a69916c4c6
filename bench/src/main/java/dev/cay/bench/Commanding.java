package dev.cay.bench;

import dev.cay.life.Progress;
import dev.cay.platform.OwnCay;
import dev.cay.platform.Script;
import dev.cay.platform.Times;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/// A thousand short commands in one sandbox, fifty at a time, beside the same shells started on the host.
final class Commanding implements Measurement {
    private static final Duration LIMIT = Duration.ofMinutes(5);
    private static final int COUNT = 1000;
    private static final int WIDTH = 50;

    @Override
    public String name() {
        return "commands";
    }

    @Override
    public List<Figure> run(Progress progress) throws Exception {
        try (var cay = OwnCay.start(Map.of());
                var runc = new Runc();
                var script = Script.start(cay, Commanding.class, "commands.mjs", COUNT, WIDTH)) {
            var found = script.next(LIMIT);
            var times = Times.of(found.get("times"));
            double seconds = found.get("seconds").asDouble();
            double host = onHost(runc);
            String method =
                    "JS SDK by plain URLs, `commands.run('echo hi')`, %d in one sandbox, %d at a time, the second run of two"
                            .formatted(COUNT, WIDTH);
            return List.of(
                    Figure.of("1,000 commands, 50 at a time", "s", seconds, method)
                            .beside("the same shells on the host", host),
                    Figure.of("one of them, p50", "ms", times.p50(), method),
                    Figure.of("one of them, p99", "ms", times.p99(), method));
        }
    }

    private static double onHost(Runc runc) throws Exception {
        long began = System.nanoTime();
        try (var threads = Executors.newFixedThreadPool(WIDTH)) {
            var all = new ArrayList<Future<Double>>();
            for (int i = 0; i < COUNT; i++) {
                all.add(threads.submit(() -> Runc.time(runc::onHost)));
            }
            for (var one : all) {
                one.get();
            }
        }
        return (System.nanoTime() - began) / 1e9;
    }
}
