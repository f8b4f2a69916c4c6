package dev.cay.server.people;

import dev.cay.http.Exchange;
import dev.cay.http.Routes;
import dev.cay.server.access.Access;
import dev.cay.server.access.KeyScope;
import dev.cay.server.access.Team;
import dev.cay.server.access.TeamKey;
import dev.cay.server.request.RequestBody;
import dev.cay.wire.TeamId;
import java.util.List;
import java.util.Map;

/// People and members of teams, for the operator.
final class MemberRoutes {
    private final Access access;
    private final People people;
    private final SignIns signIns;
    private final WaysIn ways;

    MemberRoutes(Access access, People people, SignIns signIns, WaysIn ways) {
        this.access = access;
        this.people = people;
        this.signIns = signIns;
        this.ways = ways;
    }

    void addTo(Routes routes) {
        routes.on("GET", "/admin/teams/{teamID}/members", access.guardAdmin(this::list));
        routes.on("PUT", "/admin/teams/{teamID}/members/{email}", access.guardAdmin(this::add));
        routes.on("DELETE", "/admin/teams/{teamID}/members/{email}", access.guardAdmin(this::removeMember));
        routes.on("GET", "/admin/people", access.guardAdmin(this::all));
        routes.on("DELETE", "/admin/people/{email}", access.guardAdmin(this::remove));
        routes.on("POST", "/admin/people/{email}/link", access.guardAdmin(this::link));
    }

    private void list(Exchange exchange) {
        exchange.sendJson(
                200,
                people.members(team(exchange)).stream().map(MemberRoutes::info).toList());
    }

    private void add(Exchange exchange) {
        String scope = RequestBody.of(exchange).filled("scope");
        exchange.sendJson(
                200,
                info(people.add(
                        team(exchange),
                        exchange.parameter("email"),
                        scope == null ? KeyScope.ALL : KeyScope.parse(scope))));
    }

    private void removeMember(Exchange exchange) {
        exchange.sendJson(200, kept(people.removeMember(team(exchange), exchange.parameter("email"))));
    }

    private void all(Exchange exchange) {
        exchange.sendJson(
                200,
                people.list().stream()
                        .map(person -> Map.of(
                                "id",
                                person.id(),
                                "email",
                                person.email(),
                                "teams",
                                people.memberships(person).stream()
                                        .map(member -> member.team().slug())
                                        .toList()))
                        .toList());
    }

    private void remove(Exchange exchange) {
        exchange.sendJson(200, kept(people.remove(exchange.parameter("email"))));
    }

    /// A link that signs a browser in as this person. Whoever may have one is the operator's to decide, so nobody else
    /// makes them.
    private void link(Exchange exchange) {
        String email = exchange.parameter("email");
        if (Boolean.TRUE.equals(RequestBody.of(exchange).bool("first"))
                && people.find(email).isEmpty()) {
            people.add(access.firstTeam(), email, KeyScope.ALL);
        }
        var link = signIns.link(people.require(email));
        exchange.with("Cache-Control", "no-store")
                .sendJson(
                        201,
                        Map.of(
                                "url",
                                ways.address(BrowserRoutes.LINK) + "?token=" + link.text(),
                                "expiresIn",
                                SignIns.LINK_LIFE.toSeconds()));
    }

    private static Map<String, Object> info(Member member) {
        return Map.of(
                "email",
                member.person().email(),
                "scope",
                member.scope().toString(),
                "teamID",
                member.team().id().value());
    }

    private static Map<String, Object> kept(List<TeamKey> keys) {
        return Map.of(
                "keptKeys",
                keys.stream()
                        .map(key -> Map.of(
                                "id",
                                key.id(),
                                "name",
                                key.name(),
                                "teamID",
                                key.team().id().value()))
                        .toList());
    }

    private Team team(Exchange exchange) {
        return access.requireTeam(new TeamId(exchange.parameter("teamID")));
    }
}
