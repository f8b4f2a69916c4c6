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
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;

/// Removes an instance from the host by the names it uses, in whatever state it is: half installed, killed, or not
/// there at all. Keeps all files but those of the run directory. The daemon must not run.
///
/// Every step is tried, also after a failure of an earlier one; removing twice is harmless.
public final class InstanceRemoval {
    private static final Duration LIMIT = Duration.ofSeconds(20);

    private final HostPlan plan;
    private final Path stateDir;
    private final Path runDir;
    private final Programs programs = Programs.ofHost();
    private final HostLinks links;
    private final Attempts steps = new Attempts();

    public InstanceRemoval(HostPlan plan, Path stateDir, Path runDir) {
        this.plan = plan;
        this.stateDir = stateDir;
        this.runDir = runDir;
        this.links = new HostLinks(plan, programs);
    }

    /// @return what could not be removed, a sentence each
    public List<String> run() {
        steps.attempt("processes and cgroups", () -> RuncRuntime.endAll(plan.cgroup()));
        steps.attempt("links", () -> links.others(Set.of()).forEach(links::delete));
        steps.attempt("firewall rules", this::removeRules);
        steps.attempt("addresses", () -> links.removeAddresses(""));
        steps.attempt("mounts", () -> Mounts.unmountBelow(runDir));
        steps.attempt("pool", new PoolDevice(stateDir)::takeOff);
        steps.attempt("kernel settings", () -> new Sysctls(HostLedger.ofHost()).leave(plan.instance()));
        steps.attempt(
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
        return steps.failures();
    }

    private void removeRules() {
        new ForeignFirewalls(plan, programs).withdraw();
        if (programs.run(LIMIT, "nft", "list", "tables").ok()) {
            new Firewall(plan, NetworkLimits.DEFAULT, programs).remove();
        }
    }
}
