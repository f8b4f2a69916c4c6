package dev.cay.server.admin;

import dev.cay.http.Exchange;
import dev.cay.http.Routes;
import dev.cay.server.access.Access;
import dev.cay.server.access.Caller;
import dev.cay.server.access.Team;
import dev.cay.server.network.NetworkReader;
import dev.cay.server.network.NetworkView;
import dev.cay.server.network.TeamNetworks;
import dev.cay.server.request.RequestBody;
import dev.cay.wire.TeamId;
import java.util.LinkedHashMap;
import org.jspecify.annotations.Nullable;

/// Routes for the default egress of a team's sandboxes, which the operator sets.
public final class TeamNetworkRoutes {
    private final Access access;
    private final TeamNetworks networks;
    private final NetworkReader reader;

    public TeamNetworkRoutes(Access access, TeamNetworks networks, NetworkReader reader) {
        this.access = access;
        this.networks = networks;
        this.reader = reader;
    }

    public void addTo(Routes routes) {
        String path = "/admin/teams/{teamID}/network";
        routes.on("GET", path, access.guardAdmin(exchange -> show(team(exchange), exchange)));
        routes.on("PUT", path, access.guardAdmin(this::set));
        routes.on("DELETE", path, access.guardAdmin(this::reset));
    }

    private void show(Team team, Exchange exchange) {
        var choice = networks.find(team.id());
        var answer = new LinkedHashMap<String, @Nullable Object>();
        answer.put("source", choice.isPresent() ? "team" : "default");
        answer.put(
                "allow_internet_access",
                choice.map(set -> set.allowInternetAccess()).orElse(null));
        answer.put("network", choice.map(NetworkView::of).orElse(null));
        exchange.sendJson(200, answer);
    }

    private void set(Exchange exchange) {
        var team = team(exchange);
        networks.set(team.id(), reader.choice(new Caller(team, null), RequestBody.of(exchange)));
        show(team, exchange);
    }

    private void reset(Exchange exchange) {
        networks.set(team(exchange).id(), null);
        exchange.send(204);
    }

    private Team team(Exchange exchange) {
        return access.requireTeam(new TeamId(exchange.parameter("teamID")));
    }
}
