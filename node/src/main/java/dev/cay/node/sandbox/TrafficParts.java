package dev.cay.node.sandbox;

import dev.cay.http.Handler;
import dev.cay.http.HttpListeners;
import dev.cay.metrics.Meters;
import dev.cay.node.egress.EgressPath;
import dev.cay.node.log.LogHub;
import dev.cay.node.mcp.Gateways;
import dev.cay.node.mcp.ServerFetches;
import dev.cay.proxy.ReverseProxy;
import javax.net.ssl.SSLContext;

/// The parts of the node that connect sandboxes with the outside.
///
/// @param edgePort port of the edge inside every sandbox: many programs resolve `*.localhost` to loopback without DNS
/// @param edge     handles requests to that port
/// @param tls      certificate of that port
/// @param egress   the path of connections that leave sandboxes
/// @param fetches  what MCP servers need is fetched by it in advance
public record TrafficParts(
        HttpListeners listeners,
        ReverseProxy proxy,
        int edgePort,
        SSLContext tls,
        Handler edge,
        EgressPath egress,
        Gateways gateways,
        ServerFetches fetches,
        LogHub logs,
        Meters meters) {}
