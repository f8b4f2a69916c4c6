package dev.cay.prove;

import dev.cay.platform.OwnCay;
import dev.cay.prove.escape.ServerHogs;
import dev.cay.prove.escape.Siege;
import java.util.Map;

/// Root inside tries every known escape; each must be refused, and each must work where its guards are removed.
public final class EscapeProof implements Proof {
    @Override
    public String name() {
        return "escape";
    }

    @Override
    public String promise() {
        return "Nothing gets out: root in a sandbox finds no way to the host, to other sandboxes or to private networks";
    }

    @Override
    public Verdict run(Stage stage) throws Exception {
        OwnCay cay = stage.cay(Map.of(), ServerHogs.sections());
        var siege = new Siege(
                cay.url(),
                cay.key(),
                cay.tlsPort(),
                cay.directory().resolve("state"),
                cay.directory().resolve("run"),
                stage::say);
        var report = siege.lay();
        return new Verdict(report.holds(), report.summary(), report.lines());
    }
}
