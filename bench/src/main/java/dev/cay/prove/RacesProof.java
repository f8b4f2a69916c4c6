package dev.cay.prove;

import dev.cay.platform.OwnCay;
import dev.cay.prove.escape.Races;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Map;

/// Everything in a directory changes places while every call on files is made there.
public final class RacesProof implements Proof {
    private static final int MINUTES = 5;

    @Override
    public String name() {
        return "races";
    }

    @Override
    public String promise() {
        return "5 minutes of symlink and rename races as root inside against every call on files: never a byte from or"
                + " to outside";
    }

    @Override
    public Verdict run(Stage stage) throws Exception {
        OwnCay cay = stage.cay(Map.of());
        var races = new Races(cay.url(), cay.key(), cay.directory().resolve("state/pool"), stage::say);
        var time = Duration.ofMinutes(stage.minutes(MINUTES));
        var result = races.run(time);
        boolean stuck = cay.output().contains("does not come back");
        var details = new ArrayList<String>();
        result.calls().forEach((name, tally) -> details.add("- %s: %s".formatted(name, tally)));
        result.leaks().forEach(leak -> details.add("- LEAK: " + leak));
        result.control().forEach(name -> details.add("- without the node's care this was not noticed: " + name));
        if (stuck) {
            details.add("- a thread for files was stuck");
        }
        return new Verdict(
                result.holds() && !stuck,
                "%d calls of %d kinds in %d s, %d leaks; led outside without the node's care: %s"
                        .formatted(
                                result.made(),
                                result.calls().size(),
                                time.toSeconds(),
                                result.leaks().size(),
                                result.control().isEmpty() ? "all" : "all but " + result.control()),
                details);
    }
}
