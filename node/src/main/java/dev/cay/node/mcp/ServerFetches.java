package dev.cay.node.mcp;

import dev.cay.http.Json;
import dev.cay.node.mcp.catalog.Catalog;
import dev.cay.node.mcp.catalog.LaunchPlan;
import dev.cay.node.mcp.catalog.ServerWay;
import dev.cay.node.mcp.server.ServerInstaller;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Fetches in advance what MCP servers need to start.
///
/// @param installer fetches, and starts nothing
/// @param gateways  whose settings describe servers from repositories
public record ServerFetches(Catalog catalog, ServerInstaller installer, Gateways gateways) {
    /// Fetches for each server what the first possible way needs. Stops at the first server for which that fails.
    ///
    /// @param id of the sandbox that asks: the settings of its gateway describe servers from repositories
    public void pull(SandboxId id, List<String> keys) {
        for (String key : keys) {
            if (CustomServers.isOne(key)) {
                required(id, key).ways().forEach(plan -> installer.install(id, plan));
                continue;
            }
            var ways = catalog.ways(catalog.require(key));
            if (ways.isEmpty()) {
                // Says why not.
                var _ = catalog.plan(key, Json.mapper().createObjectNode());
            }
            pull(id, key, ways);
        }
    }

    private GatewayServer required(SandboxId id, String key) {
        return gateways.find(id, key)
                .orElseThrow(() -> new CayException(
                        ErrorKind.NOT_FOUND,
                        "%s is no server of this sandbox's gateway; begin one that has it, with its installCmd"
                                .formatted(Texts.brief(key))));
    }

    private void pull(SandboxId id, String key, List<ServerWay> ways) {
        var reasons = new ArrayList<String>();
        for (var way : ways) {
            var plan = LaunchPlan.toFetch(key, way.launch());
            try {
                plan.ifPresent(fetched -> installer.install(id, fetched));
                return;
            } catch (CayException e) {
                if (ways.size() == 1 || e.kind() == ErrorKind.CANCELED) {
                    throw e;
                }
                reasons.add("%s: %s".formatted(way.word(), e.userMessage()));
            }
        }
        throw new CayException(
                ErrorKind.UNAVAILABLE,
                "nothing can be fetched for mcp.%s: %s".formatted(key, String.join("; ", reasons)));
    }

    /// The progress of that, in a line; empty without a fetch.
    public String progress(SandboxId id, List<String> keys) {
        return keys.stream()
                .flatMap(key -> fetched(id, key)
                        .map(installer::progress)
                        .filter(said -> !said.isEmpty())
                        .map(said -> "%s: %s".formatted(key, said)))
                .collect(Collectors.joining("; "));
    }

    private Stream<LaunchPlan> fetched(SandboxId id, String key) {
        if (CustomServers.isOne(key)) {
            return gateways.find(id, key).stream().flatMap(server -> server.ways().stream());
        }
        return catalog.find(key).stream()
                .flatMap(server -> catalog.ways(server).stream())
                .flatMap(way -> LaunchPlan.toFetch(key, way.launch()).stream());
    }
}
