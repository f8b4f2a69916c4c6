package dev.cay.server.access;

import dev.cay.http.Exchange;
import dev.cay.http.Routes;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.rest.TeamInfo;
import java.util.ArrayList;
import java.util.List;

/// Routes of teams for clients.
public final class TeamRoutes {
    private final Access access;

    public TeamRoutes(Access access) {
        this.access = access;
    }

    public void addTo(Routes routes) {
        var ofKey = access.guardCaller(TeamRoutes::list);
        var ofPerson = access.guardToken(this::mint);
        routes.on("GET", "/teams", exchange -> {
            exchange.with("Cache-Control", "no-store");
            if (Credential.isOfPerson(exchange)) {
                ofPerson.handle(exchange);
            } else {
                ofKey.handle(exchange);
            }
        });
    }

    /// Lists the caller's teams. Clients expect a usable key here. Keys are stored hashed, so the caller gets back its
    /// own key.
    private static void list(Caller caller, Exchange exchange) {
        if (caller.key() == null) {
            throw new CayException(
                    ErrorKind.PERMISSION_DENIED,
                    "this gives an API key back, and the operator's token is none; `GET /admin/teams` lists teams, and `POST /admin/teams/{teamID}/api-keys` makes a key");
        }
        var team = caller.team();
        exchange.sendJson(
                200,
                List.of(new TeamInfo(
                        team.id(), team.name(), Credential.of(exchange).text(), true)));
    }

    /// A token of a person is none of a team, so each of their teams gets a key. The request counts for all of them.
    private void mint(Exchange exchange, Audit.Act act) {
        String token = Credential.of(exchange).text();
        var rights = access.people().rights(token);
        for (var one : rights) {
            var caller = new Caller(one.team(), one);
            act.by(caller);
            access.admission().call(caller);
        }
        var teams = new ArrayList<TeamInfo>();
        var made = access.people().mint(token, rights);
        for (int i = 0; i < rights.size(); i++) {
            var team = rights.get(i).team();
            act.minted(rights.get(i), made.get(i).key());
            teams.add(new TeamInfo(team.id(), team.name(), made.get(i).text(), i == 0));
        }
        exchange.sendJson(200, teams);
    }
}
