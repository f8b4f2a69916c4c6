package dev.cay.node;

import dev.cay.node.host.HostLedger;
import dev.cay.node.host.HostPlan;
import dev.cay.node.host.Mounts;
import dev.cay.node.host.NetworkLimits;
import dev.cay.node.host.Programs;
import dev.cay.node.host.Sysctls;
import dev.cay.node.network.Firewall;
import dev.cay.node.network.ForeignFirewalls;
import dev.cay.node.network.HostLinks;
import dev.cay.node.runtime.RuncRuntime;
import dev.cay.node.storage.PoolDevice;
import dev.cay.wire.CayException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/// Takes an instance off the host by the names it uses, whatever state it is in: half installed, killed, or not
/// there at all. Files stay, but those of the run directory. The daemon must not run.
///
/// Every step is tried, also when one before failed; doing it twice is fine.
public final class InstanceRemoval {
    private static final Duration LIMIT = Duration.ofSeconds(20);

    private final HostPlan plan;
    private final Path stateDir;
    private final Path runDir;
    private final Programs programs = Programs.ofHost();
    private final HostLinks links;
    private final List<String> failures = new ArrayList<>();

    public InstanceRemoval(HostPlan plan, Path stateDir, Path runDir) {
        this.plan = plan;
        this.stateDir = stateDir;
        this.runDir = runDir;
        this.links = new HostLinks(plan, programs);
    }

    /// @return what could not be removed, a sentence each
    public List<String> run() {
        attempt("processes and cgroups", () -> RuncRuntime.endAll(plan.cgroup()));
        attempt("links", () -> links.others(Set.of()).forEach(links::delete));
        attempt("firewall rules", this::removeRules);
        attempt("addresses", () -> links.removeAddresses(""));
        attempt("mounts", () -> Mounts.unmountBelow(runDir));
        attempt("pool", new PoolDevice(stateDir)::takeOff);
        attempt("kernel settings", () -> new Sysctls(HostLedger.ofHost()).leave(plan.instance()));
        attempt(
                "run directory",
                () -> programs.require(
                        LIMIT,
                        "rm",
                        "-rf",
                        "--one-file-system",
                        "--",
                        runDir.resolve("bundles").toString(),
                        runDir.resolve("images").toString(),
                        runDir.resolve("runc").toString()));
        return List.copyOf(failures);
    }

    private void attempt(String what, Runnable step) {
        try {
            step.run();
        } catch (CayException e) {
            failures.add(what + ": " + e.userMessage());
        } catch (RuntimeException e) {
            failures.add(what + ": " + e);
        }
    }

    private void removeRules() {
        new ForeignFirewalls(plan, programs).withdraw();
        if (programs.run(LIMIT, "nft", "list", "tables").ok()) {
            new Firewall(plan, NetworkLimits.DEFAULT, programs).remove();
        }
    }
}
