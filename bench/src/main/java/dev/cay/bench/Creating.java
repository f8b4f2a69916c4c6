package dev.cay.bench;

import dev.cay.life.Progress;
import dev.cay.platform.OwnCay;
import dev.cay.platform.Script;
import dev.cay.platform.Times;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/// What a user waits for: from `Sandbox.create()` to the end of the first command.
final class Creating implements Measurement {
    private static final Duration LIMIT = Duration.ofMinutes(5);
    private static final int WARM_UP = 20;
    private static final int ONE_BY_ONE = 60;
    private static final int AT_ONCE = 100;

    @Override
    public String name() {
        return "create";
    }

    @Override
    public List<Figure> run(Progress progress) throws Exception {
        try (var cay = OwnCay.start(Map.of());
                var script = Script.start(cay, Creating.class, "create.mjs", WARM_UP, ONE_BY_ONE, AT_ONCE)) {
            var one = script.next(LIMIT);
            var times = Times.of(one.get("total"));
            var create = Times.of(one.get("create"));
            var burst = script.next(LIMIT);
            String method = "JS SDK by plain URLs, create + `echo hi`, one after the other, n=" + ONE_BY_ONE;
            return List.of(
                    Figure.of("create → first command, p50", "ms", times.p50(), method)
                            .atMost(20),
                    Figure.of("create → first command, p99", "ms", times.p99(), method)
                            .atMost(120),
                    Figure.of("create alone, p50", "ms", create.p50(), method),
                    Figure.of(
                                    "100 creates at once, all interactive",
                                    "s",
                                    burst.get("seconds").asDouble(),
                                    "JS SDK, all at once, until each has run `echo hi`; %d failed"
                                            .formatted(burst.get("failed").asInt()))
                            .atMost(burst.get("failed").asInt() == 0 ? 2.5 : 0));
        }
    }
}
