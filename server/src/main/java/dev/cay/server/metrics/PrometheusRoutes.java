package dev.cay.server.metrics;

import dev.cay.http.Exchange;
import dev.cay.http.Routes;
import dev.cay.metrics.Meters;
import dev.cay.server.access.Access;
import dev.cay.server.access.Team;

/// The page for Prometheus.
///
/// It needs a key of the first team, which is the operator's. A request from this machine is not enough, because a page
/// in a browser can send one, and so can everything behind a proxy. The front door lets no request from inside a
/// sandbox, or to a sandbox's host name, come here.
public final class PrometheusRoutes {
    private final Access access;
    private final Meters meters;

    public PrometheusRoutes(Access access, Meters meters) {
        this.access = access;
        this.meters = meters;
    }

    public void addTo(Routes routes) {
        routes.on("GET", "/metrics", access.guardOperator(this::page));
    }

    private void page(Team team, Exchange exchange) {
        var page = meters.page(exchange.header("Accept"));
        exchange.with("Cache-Control", "no-store").send(200, page.contentType(), page.text());
    }
}
