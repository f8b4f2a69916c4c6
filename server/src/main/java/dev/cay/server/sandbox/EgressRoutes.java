package dev.cay.server.sandbox;

import dev.cay.http.Exchange;
import dev.cay.http.Routes;
import dev.cay.server.access.Access;
import dev.cay.server.access.Team;
import dev.cay.server.fleet.Fleet;
import dev.cay.wire.SandboxId;

/// What sandboxes tried to reach.
public final class EgressRoutes {
    private final Access access;
    private final Sandboxes sandboxes;
    private final Fleet fleet;

    public EgressRoutes(Access access, Sandboxes sandboxes, Fleet fleet) {
        this.access = access;
        this.sandboxes = sandboxes;
        this.fleet = fleet;
    }

    public void addTo(Routes routes) {
        routes.on("GET", "/sandboxes/{sandboxID}/egress", access.guard(this::seen));
    }

    private void seen(Team team, Exchange exchange) {
        var sandbox = sandboxes.require(team, SandboxId.parse(exchange.parameter("sandboxID")));
        exchange.sendJson(200, fleet.node().egressSeen(sandbox.id()));
    }
}
