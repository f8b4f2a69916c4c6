package dev.cay.bench;

import dev.cay.life.Progress;
import dev.cay.platform.OwnCay;
import dev.cay.platform.Script;
import dev.cay.platform.Times;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/// The shortest command there is, in a sandbox that runs, beside the same command on the host and by `runc exec`.
final class Echoing implements Measurement {
    private static final Duration LIMIT = Duration.ofMinutes(5);
    private static final int WARM_UP = 1500;
    private static final int COUNT = 300;
    private static final int RUNC_COUNT = 40;

    @Override
    public String name() {
        return "echo";
    }

    @Override
    public List<Figure> run(Progress progress) throws Exception {
        try (var cay = OwnCay.start(Map.of());
                var runc = new Runc();
                var script = Script.start(cay, Echoing.class, "echo.mjs", WARM_UP, COUNT)) {
            var echo = Times.of(script.next(LIMIT).get("times"));
            var host = Times.repeat(COUNT, () -> Runc.time(runc::onHost));
            String name = runc.run();
            Times exec;
            try {
                exec = Times.repeat(RUNC_COUNT, () -> Runc.time(() -> runc.exec(name)));
            } finally {
                runc.delete(name);
            }
            String method = "JS SDK by plain URLs, `commands.run('echo hi')`, n=%d after %d".formatted(COUNT, WARM_UP);
            return List.of(
                    Figure.of("echo in a warm sandbox, p50", "ms", echo.p50(), method)
                            .beside("the same bash on the host", host.p50())
                            .atMostTimes(1.4),
                    Figure.of("echo in a warm sandbox, p99", "ms", echo.p99(), method),
                    Figure.of("echo in a warm sandbox, p50", "ms", echo.p50(), method)
                            .beside("runc exec", exec.p50()));
        }
    }
}
