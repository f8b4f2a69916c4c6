package dev.cay.bench;

import dev.cay.life.Progress;
import dev.cay.platform.OwnCay;
import dev.cay.platform.Script;
import dev.cay.platform.Times;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import tools.jackson.databind.JsonNode;

/// Files in and out of a sandbox: many small ones and one of a gigabyte, a long list, and how soon a watcher knows.
final class Filing implements Measurement {
    private static final Duration LIMIT = Duration.ofMinutes(10);
    private static final int COUNT = 300;
    private static final int ENTRIES = 10_000;
    private static final int MEGABYTES = 1024;
    private static final int ROUNDS = 3;

    @Override
    public String name() {
        return "files";
    }

    @Override
    public List<Figure> run(Progress progress) throws Exception {
        try (var cay = OwnCay.start(Map.of());
                var script = Script.start(cay, Filing.class, "files.mjs", COUNT, ENTRIES)) {
            var found = script.next(LIMIT);
            var urls = script.next(LIMIT);
            progress.detail("a gigabyte there and back");
            var rates = large(urls, cay.directory().resolve("state/pool"));
            script.tell("end");
            String client = "JS SDK by plain URLs, n=%d".formatted(COUNT);
            String curl = "curl on a signed URL, best of %d, files in memory to and from the pool".formatted(ROUNDS);
            return List.of(
                    beside(found.get("small"), "1 KiB written and read, p50", client),
                    beside(found.get("list"), "list of 10,000 entries, p50", client),
                    Figure.of(
                                    "list of 10,000 entries, client that only reads, p50",
                                    "ms",
                                    Times.of(found.get("list").get("bytes")).p50(),
                                    "Node's HTTP client, n=15")
                            .beside(
                                    "the host's own files",
                                    Times.of(found.get("list").get("here")).p50())
                            .atMostTimes(2),
                    beside(found.get("watch"), "written → told by a watcher, p50", client),
                    Figure.of("1 GiB up", "MB/s", rates[0], curl)
                            .beside("cp", rates[1])
                            .atLeastTimes(0.5),
                    Figure.of("1 GiB down", "MB/s", rates[2], curl)
                            .beside("cp", rates[3])
                            .atLeastTimes(0.5));
        }
    }

    private static Figure beside(JsonNode found, String name, String method) {
        return Figure.of(name, "ms", Times.of(found.get("there")).p50(), method)
                .beside("the host's own files", Times.of(found.get("here")).p50());
    }

    /// Up, the same by `cp`, down, the same by `cp`; all in megabytes a second.
    private static double[] large(JsonNode urls, Path pool) throws IOException, InterruptedException {
        Path memory = Files.createTempDirectory(Path.of("/dev/shm"), "cay-files-");
        Path copy = pool.resolve("bench-copy");
        try {
            Path file = memory.resolve("file");
            run("dd", "if=/dev/urandom", "of=" + file, "bs=1M", "count=" + MEGABYTES);
            double[] rates = new double[4];
            for (int i = 0; i < ROUNDS; i++) {
                keep(
                        rates,
                        0,
                        run(
                                "curl",
                                "-sf",
                                "-X",
                                "POST",
                                "-H",
                                "Content-Type: application/octet-stream",
                                "-H",
                                "Expect:",
                                "-T",
                                file,
                                "-o",
                                "/dev/null",
                                urls.get("up").asString()));
                keep(rates, 1, run("cp", file, copy));
                keep(
                        rates,
                        2,
                        run(
                                "curl",
                                "-sf",
                                "-o",
                                memory.resolve("back"),
                                urls.get("down").asString()));
                run("cmp", file, memory.resolve("back"));
                Files.delete(memory.resolve("back"));
                keep(rates, 3, run("cp", copy, memory.resolve("back")));
                Files.delete(memory.resolve("back"));
                Files.delete(copy);
            }
            return rates;
        } finally {
            Files.deleteIfExists(copy);
            Files.deleteIfExists(memory.resolve("back"));
            Files.deleteIfExists(memory.resolve("file"));
            Files.delete(memory);
        }
    }

    private static void keep(double[] rates, int at, double seconds) {
        rates[at] = Math.max(rates[at], MEGABYTES * 1.048576 / seconds);
    }

    /// Seconds it took.
    private static double run(Object... command) throws IOException, InterruptedException {
        long began = System.nanoTime();
        var process = new ProcessBuilder(
                        List.of(command).stream().map(Object::toString).toList())
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        if (!process.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS) || process.exitValue() != 0) {
            process.destroyForcibly();
            throw new IOException("%s failed".formatted(command[0]));
        }
        return (System.nanoTime() - began) / 1e9;
    }
}
