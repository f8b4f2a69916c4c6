package dev.cay.server.sandbox;

import dev.cay.http.Exchange;
import dev.cay.http.Routes;
import dev.cay.server.access.Access;
import dev.cay.server.access.Team;
import dev.cay.wire.SandboxId;

/// What sandboxes tried to reach, also those that ended in the last days.
public final class EgressRoutes {
    private final Access access;
    private final Sandboxes sandboxes;
    private final EgressLogs logs;

    public EgressRoutes(Access access, Sandboxes sandboxes, EgressLogs logs) {
        this.access = access;
        this.sandboxes = sandboxes;
        this.logs = logs;
    }

    public void addTo(Routes routes) {
        routes.on("GET", "/sandboxes/{sandboxID}/egress", access.guard(this::seen));
    }

    private void seen(Team team, Exchange exchange) {
        var sandbox = sandboxes.requireKnown(team, SandboxId.parse(exchange.parameter("sandboxID")));
        exchange.sendJson(200, logs.seen(sandbox.id()));
    }
}
