package dev.cay.bench;

import dev.cay.life.Progress;
import dev.cay.platform.OwnCay;
import dev.cay.platform.Script;
import dev.cay.platform.Times;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/// Much output of a command on its way to a client, beside the same bytes through a pipe; and how soon a terminal shows
/// what is typed.
final class Printing implements Measurement {
    private static final Duration LIMIT = Duration.ofMinutes(5);
    private static final int MEGABYTES = 100;
    private static final int KEYS = 300;

    @Override
    public String name() {
        return "output";
    }

    @Override
    public List<Figure> run(Progress progress) throws Exception {
        try (var cay = OwnCay.start(Map.of());
                var script = Script.start(cay, Printing.class, "output.mjs", MEGABYTES, KEYS)) {
            var found = script.next(LIMIT);
            var keys = Times.of(found.get("keys"));
            String raw = "%d MB of stdout, raw HTTP by Node, frames read and dropped, best of 3".formatted(MEGABYTES);
            double pipe = throughPipe();
            return List.of(
                    Figure.of(
                                    "stdout to a client, raw",
                                    "MB/s",
                                    found.get("raw").asDouble(),
                                    raw)
                            .beside("`head -c | cat` read by Java", pipe),
                    Figure.of(
                                    "stdout to a client, SDK",
                                    "MB/s",
                                    found.get("sdk").asDouble(),
                                    "%d MB by `commands.run` with `onStdout`".formatted(MEGABYTES))
                            .beside("`head -c | cat` read by Java", pipe),
                    Figure.of("terminal: key to echo, p50", "ms", keys.p50(), "SDK, `cat` in a pty, n=" + KEYS),
                    Figure.of("terminal: key to echo, p99", "ms", keys.p99(), "SDK, `cat` in a pty, n=" + KEYS));
        }
    }

    private static double throughPipe() throws Exception {
        double best = 0;
        for (int i = 0; i < 3; i++) {
            long began = System.nanoTime();
            var process = new ProcessBuilder(
                            "/bin/sh", "-c", "head -c %d /dev/zero | cat".formatted(MEGABYTES * 1_000_000))
                    .start();
            try (var in = process.getInputStream()) {
                in.transferTo(java.io.OutputStream.nullOutputStream());
            }
            process.waitFor();
            best = Math.max(best, MEGABYTES / ((System.nanoTime() - began) / 1e9));
        }
        return best;
    }
}
