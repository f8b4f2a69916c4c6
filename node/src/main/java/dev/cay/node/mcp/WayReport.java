package dev.cay.node.mcp;

import dev.cay.node.mcp.catalog.LaunchPlan;
import dev.cay.node.mcp.server.ChosenHome.Standing;
import java.util.List;
import tools.jackson.databind.node.ObjectNode;

/// Reports the ways to start a server: which one was taken, why the others were not, and what the server may reach. It
/// contains no option and no token.
final class WayReport {
    private WayReport() {}

    /// @param ways in the order in which they are tried
    static void add(ObjectNode health, List<Standing> ways) {
        ways.stream().filter(Standing::taken).map(Standing::plan).findFirst().ifPresent(plan -> {
            health.put("way", plan.way());
            reach(health, plan);
        });
        var others = ways.stream().filter(way -> !way.taken()).toList();
        if (!others.isEmpty()) {
            var told = health.putArray("otherWays");
            others.forEach(way -> {
                var node = told.addObject().put("way", way.plan().way());
                if (!way.reason().isEmpty()) {
                    node.put("reason", way.reason());
                }
            });
        }
    }

    /// Adds the hosts that the catalog names. For a server that runs here they are not enforced: it reaches all that
    /// its sandbox may reach.
    private static void reach(ObjectNode health, LaunchPlan plan) {
        health.put("network", plan.network().disabled() ? "nothing" : "internet");
        var hosts = plan.network().allow();
        if (!hosts.isEmpty()) {
            hosts.forEach(health.putArray("hosts")::add);
        }
    }
}
