package dev.cay.cli;

import dev.cay.cli.local.Root;
import dev.cay.node.Abandoned;
import dev.cay.node.host.HostLedger;
import java.io.PrintStream;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;

/// Removes what killed tests left on the host; for the launcher, before it starts others.
@Command(name = "tidy", hidden = true)
final class TidyCommand implements Callable<Integer> {
    @Override
    public Integer call() {
        Root.require("tidy", "to remove what tests left");
        return run(System.err) ? 0 : 1;
    }

    /// @return whether nothing is left
    static boolean run(PrintStream errors) {
        var failures = Abandoned.remove(HostLedger.ofHost());
        failures.forEach(failure -> errors.println("cay: killed tests left what cannot be removed: " + failure));
        return failures.isEmpty();
    }
}
