package dev.cay.node.sandbox;

import dev.cay.http.Handler;
import dev.cay.http.HttpListeners;
import dev.cay.metrics.Meters;
import dev.cay.node.egress.EgressPath;
import dev.cay.node.log.LogHub;
import dev.cay.node.mcp.Gateways;
import dev.cay.proxy.ReverseProxy;
import javax.net.ssl.SSLContext;

/// How requests get into sandboxes, and what is told of them.
///
/// @param edgePort where the edge is also found inside every sandbox: many programs send `*.localhost` to loopback
///                 without asking anybody
/// @param edge     answers there
/// @param tls      shown there
/// @param egress   the path of connections that leave sandboxes
public record TrafficParts(
        HttpListeners listeners,
        ReverseProxy proxy,
        int edgePort,
        SSLContext tls,
        Handler edge,
        EgressPath egress,
        Gateways gateways,
        LogHub logs,
        Meters meters) {}
