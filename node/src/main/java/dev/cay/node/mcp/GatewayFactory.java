package dev.cay.node.mcp;

import dev.cay.metrics.Meters;
import dev.cay.node.log.LogHub;
import dev.cay.node.mcp.catalog.Catalog;
import dev.cay.node.mcp.catalog.ServerOverride;
import dev.cay.node.mcp.intercept.Interceptors;
import dev.cay.node.mcp.oauth.Authorizations;
import dev.cay.node.mcp.server.ChosenHome;
import dev.cay.node.mcp.server.ServerHomes;
import dev.cay.wire.CayException;
import dev.cay.wire.SandboxId;
import dev.cay.wire.SystemPorts;
import java.time.InstantSource;
import java.util.List;
import java.util.function.BiFunction;
import tools.jackson.databind.node.ObjectNode;

/// Makes gateways of their settings, by the operator's catalog and rules. Starts nothing. Thread-safe.
public final class GatewayFactory {
    private final Catalog catalog;
    private final CustomServers custom;
    private final MetaChoice metaTools;
    private final Interceptors interceptors;
    private final ServerHomes homes;
    private final Authorizations authorizations;
    private final LogHub logs;
    private final InstantSource clock;
    private final GatewayMeters meters;

    public GatewayFactory(
            Catalog catalog,
            GatewayRules rules,
            Interceptors interceptors,
            ServerHomes homes,
            Authorizations authorizations,
            LogHub logs,
            InstantSource clock,
            Meters meters) {
        this.catalog = catalog;
        this.custom = new CustomServers(rules.repositories());
        this.metaTools = rules.metaTools();
        this.interceptors = interceptors;
        this.homes = homes;
        this.authorizations = authorizations;
        this.logs = logs;
        this.clock = clock;
        this.meters = new GatewayMeters(meters);
    }

    /// What it takes to start the servers of these settings.
    List<GatewaySettings.Planned> plans(GatewaySettings settings) {
        return settings.plans(catalog, custom);
    }

    /// @param plans those of the settings
    /// @param edits makes what changes the servers of the gateway, and says so in its log
    McpGateway make(
            SandboxId id,
            GatewaySettings settings,
            List<GatewaySettings.Planned> plans,
            BiFunction<GatewayServers, GatewayLog, MetaTools.Editor> edits) {
        var log = new GatewayLog(logs.of(id), clock);
        var choice = settings.metaTools();
        var servers = new GatewayServers(
                plans.stream().map(planned -> server(id, planned, log)).toList(), log);
        var own = new MetaToolList(choice == null ? metaTools : choice);
        var meta = new MetaTools(own, catalog, servers, edits.apply(servers, log));
        return new McpGateway(
                SystemPorts.MCP + "-" + id.value(),
                settings.token(),
                servers,
                log,
                own,
                new ToolCalls(own, meta, interceptors.of(id), log, meters));
    }

    /// A server of the catalog. Refuses options that are wrong.
    GatewayServer server(SandboxId id, String key, ObjectNode options, GatewayLog log) {
        return server(id, new GatewaySettings.Planned(catalog.plan(key, options), null), log);
    }

    /// A server of the gateway. If it cannot be started, its users get the reason, and all others work.
    private GatewayServer server(SandboxId id, GatewaySettings.Planned planned, GatewayLog log) {
        var problem = planned.problem();
        var settings = catalog.find(planned.plan().key())
                .map(catalog::overrideOf)
                .map(ServerOverride::oauth)
                .orElse(null);
        return new GatewayServer(
                planned.plan(),
                () -> {
                    if (problem != null) {
                        throw new CayException(problem.kind(), problem.userMessage());
                    }
                    return new ChosenHome(planned.plan(), way -> homes.open(id, way), System::nanoTime);
                },
                log,
                authorizations.of(id, planned.plan(), settings).orElse(null));
    }
}
