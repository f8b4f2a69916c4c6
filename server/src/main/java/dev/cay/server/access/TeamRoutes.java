package dev.cay.server.access;

import dev.cay.http.Exchange;
import dev.cay.http.Routes;
import dev.cay.wire.rest.TeamInfo;
import java.util.List;

/// What clients may ask about teams.
public final class TeamRoutes {
    private final Access access;

    public TeamRoutes(Access access) {
        this.access = access;
    }

    public void addTo(Routes routes) {
        var ofKey = access.guard(TeamRoutes::list);
        routes.on("GET", "/teams", exchange -> {
            exchange.with("Cache-Control", "no-store");
            if (Credential.isOfPerson(exchange)) {
                exchange.sendJson(
                        200, access.people().teams(Credential.of(exchange).text()));
            } else {
                ofKey.handle(exchange);
            }
        });
    }

    /// Clients expect a usable key here. Ours are stored hashed, so the caller gets back the one it came with.
    private static void list(Team team, Exchange exchange) {
        exchange.sendJson(
                200,
                List.of(new TeamInfo(
                        team.id(), team.name(), Credential.of(exchange).text(), true)));
    }
}
