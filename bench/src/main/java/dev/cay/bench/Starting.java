package dev.cay.bench;

import dev.cay.life.Progress;
import dev.cay.platform.OwnCay;
import dev.cay.platform.Times;
import java.util.List;
import java.util.Map;

/// How long the daemon takes to be ready, and what it needs when nobody uses it.
final class Starting implements Measurement {
    private static final int STARTS = 5;
    private static final int IDLE_SECONDS = 10;

    @Override
    public String name() {
        return "start";
    }

    @Override
    public List<Figure> run(Progress progress) throws Exception {
        try (var cay = OwnCay.start(Map.of())) {
            var times = new double[STARTS];
            for (int i = 0; i < STARTS; i++) {
                cay.crash();
                long began = System.nanoTime();
                cay.startAgain();
                times[i] = (System.nanoTime() - began) / 1e9;
            }
            return List.of(
                    Figure.of(
                                    "daemon start to ready, p50",
                                    "s",
                                    new Times(times).p50(),
                                    "`cay up` after kill -9, templates present, to the first answer, %d times"
                                            .formatted(STARTS))
                            .atMost(1.5),
                    idle(cay.daemon()));
        }
    }

    /// Measured when compilers and spares have come to rest.
    static Figure idle(ProcessHandle daemon) throws InterruptedException {
        Thread.sleep(30_000);
        double before = cpuSeconds(daemon);
        Thread.sleep(IDLE_SECONDS * 1000);
        return Figure.of(
                        "idle daemon",
                        "% of a core",
                        (cpuSeconds(daemon) - before) * 100 / IDLE_SECONDS,
                        "CPU time of the daemon over %d s without requests".formatted(IDLE_SECONDS))
                .atMost(1);
    }

    private static double cpuSeconds(ProcessHandle daemon) {
        return daemon.info().totalCpuDuration().orElseThrow().toNanos() / 1e9;
    }
}
