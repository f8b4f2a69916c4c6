package dev.cay.node.mcp;

import dev.cay.metrics.Meters;
import dev.cay.metrics.Tally;
import dev.cay.metrics.Timing;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/// Counts calls by server and tool. Servers choose the names of tools, so only a limited number is distinguished.
final class GatewayMeters {
    private static final int MOST_TOOLS = 500;

    private final Tally calls;
    private final Timing times;
    private final Set<String> known = ConcurrentHashMap.newKeySet();

    GatewayMeters(Meters meters) {
        this.calls = meters.tally("cay_mcp_calls_total", "Calls of MCP tools", "server", "tool", "outcome");
        this.times = meters.timing("cay_mcp_call_seconds", "How long calls of MCP tools take", "server");
    }

    void called(String server, String tool, boolean well, long began) {
        String one = CustomServers.isOne(server) ? "custom" : server;
        boolean counted =
                known.contains(one + " " + tool) || (known.size() < MOST_TOOLS && known.add(one + " " + tool));
        calls.add(1, one, counted ? Texts.brief(tool) : "other", well ? "ok" : "error");
        times.since(began, one);
    }
}
