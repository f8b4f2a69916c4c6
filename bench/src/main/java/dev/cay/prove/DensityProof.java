package dev.cay.prove;

import dev.cay.bench.Bench;
import dev.cay.bench.Crowding;
import dev.cay.bench.Figure;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/// A thousand sandboxes on one machine, and nothing of them afterwards.
final class DensityProof implements Proof {
    private static final int COUNT = 1000;

    @Override
    public String name() {
        return "density";
    }

    @Override
    public String promise() {
        return "1,000 idle sandboxes at ≤ 3 MB each, create p50 grows ≤ 30 % from 10 to 1,000, nothing is left afterwards";
    }

    @Override
    public Verdict run(Stage stage) throws Exception {
        var cay = stage.cay(Crowding.SETTINGS);
        var crowd = Crowding.gather(cay, COUNT, stage.progress());
        var figures = Crowding.figures(crowd);
        var left = leftAfter(cay.instance(), cay.directory(), stage);
        var details = new ArrayList<>(Bench.table(figures).lines().toList());
        left.forEach(thing -> details.add("left: " + thing));
        boolean kept = figures.stream().limit(2).allMatch(Figure::met);
        return new Verdict(
                kept && left.isEmpty(),
                String.format(
                        Locale.ROOT,
                        "%.2f MB each; create p50 %.1f ms with 10, %.1f ms with 1,000; idle daemon %.1f %% of a core; "
                                + "all killed in %.0f s; %d things left",
                        crowd.megabytes(),
                        crowd.few().p50(),
                        crowd.many().p50(),
                        crowd.idle().value(),
                        crowd.seconds(),
                        left.size()),
                details);
    }

    private static List<String> leftAfter(String instance, Path directory, Stage stage) throws IOException {
        stage.endDaemons();
        return Traces.things(instance, directory);
    }
}
