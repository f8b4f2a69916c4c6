package dev.cay.bench;

import dev.cay.platform.OwnCay;
import dev.cay.platform.Times;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/// Checkpoints and restores by the container runtime alone, of a container whose memory is random.
///
/// @param checkpoint milliseconds of `runc checkpoint`
/// @param restore    milliseconds until a command in the restored container has answered
record RuncPauses(Times checkpoint, Times restore) {
    private static final Duration FILL_LIMIT = Duration.ofMinutes(2);

    double checkpointSeconds() {
        return checkpoint.p50() / 1000;
    }

    double restoreSeconds() {
        return restore.p50() / 1000;
    }

    /// Images go where Cay's go, by the CRIU that Cay uses.
    ///
    /// @param size of the memory, in MiB
    static RuncPauses measure(OwnCay cay, int size, int runs) throws IOException, InterruptedException {
        var program = List.of(
                "/usr/bin/python3",
                "-c",
                "import os, time; kept = [os.urandom(1 << 20) for _ in range(%d)]; time.sleep(9999)".formatted(size));
        Path criu = criu(cay);
        Path place = Files.createDirectories(cay.directory().resolve("state/pool/bench"));
        var checkpoint = new double[runs];
        var restore = new double[runs];
        try (var runc = new Runc(program)) {
            String name = runc.run();
            try {
                awaitMemory(runc.firstProcess(name), size);
                for (int i = 0; i < runs; i++) {
                    Path images = place.resolve("images-" + size + "-" + i);
                    checkpoint[i] = Runc.time(() -> runc.checkpoint(name, criu, images));
                    Runc.call(place, List.of("sync", "-f", "."));
                    restore[i] = Runc.time(() -> {
                        runc.restore(name, criu, images);
                        runc.exec(name);
                    });
                    Runc.call(place, List.of("rm", "-r", images.toString()));
                }
            } finally {
                runc.delete(name);
            }
        }
        return new RuncPauses(new Times(checkpoint), new Times(restore));
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
        while (residentMegabytes(pid) < size) {
            if (System.nanoTime() > end) {
                throw new IOException("the container did not fill its %d MiB within %s".formatted(size, FILL_LIMIT));
            }
            Thread.sleep(50);
        }
    }

    private static long residentMegabytes(long pid) throws IOException {
        return Files.readAllLines(Path.of("/proc", Long.toString(pid), "status")).stream()
                .filter(line -> line.startsWith("VmRSS:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) / 1024)
                .findFirst()
                .orElse(0);
    }
}
