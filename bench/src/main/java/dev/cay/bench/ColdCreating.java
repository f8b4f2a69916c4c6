package dev.cay.bench;

import dev.cay.life.Progress;
import dev.cay.platform.OwnCay;
import dev.cay.platform.Script;
import dev.cay.platform.Times;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/// A create that finds no spare sandbox, beside the container runtime alone.
final class ColdCreating implements Measurement {
    private static final Duration LIMIT = Duration.ofMinutes(5);
    private static final int WARM_UP = 20;
    private static final int COUNT = 40;

    @Override
    public String name() {
        return "cold-create";
    }

    @Override
    public List<Figure> run(Progress progress) throws Exception {
        try (var cay = OwnCay.start(Map.of("sandboxes.spares", "0"));
                var runc = new Runc();
                var script = Script.start(cay, Creating.class, "create.mjs", WARM_UP, COUNT, "0")) {
            var times = Times.of(script.next(LIMIT).get("create"));
            script.next(LIMIT);
            var alone = Times.repeat(COUNT, () -> {
                var name = new String[1];
                double took = Runc.time(() -> name[0] = runc.run());
                runc.delete(name[0]);
                return took;
            });
            return List.of(Figure.of(
                            "create without a spare sandbox, p50",
                            "ms",
                            times.p50(),
                            "JS SDK, spares turned off, n=%d; `runc run` of the same template without user namespace, network or disk"
                                    .formatted(COUNT))
                    .beside("runc run", alone.p50()));
        }
    }
}
