package dev.cay.prove;

import dev.cay.prove.egress.EgressWorld;
import java.util.ArrayList;

/// Code in a sandbox tries every known way around network rules; each must be refused, and each must work without the
/// rules.
public final class EgressProof implements Proof {
    @Override
    public String name() {
        return "egress";
    }

    @Override
    public String promise() {
        return "Network rules hold: a sandbox reaches the hosts that its rules name and finds no way around them";
    }

    @Override
    public Verdict run(Stage stage) throws Exception {
        stage.progress().step("building an internet of namespaces");
        try (var world = new EgressWorld()) {
            var rows = world.lay(stage::say);
            long held = rows.stream().filter(EgressWorld.Row::holds).count();
            var details = new ArrayList<String>();
            details.add("| way | without rules | with rules | with `inspect` | verdict |");
            details.add("|---|---|---|---|---|");
            rows.forEach(row -> details.add(row.line()));
            return new Verdict(
                    held == rows.size(), "%d of %d ways as they must be".formatted(held, rows.size()), details);
        }
    }
}
