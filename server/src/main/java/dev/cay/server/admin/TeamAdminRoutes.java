package dev.cay.server.admin;

import dev.cay.http.Exchange;
import dev.cay.http.Routes;
import dev.cay.server.access.Access;
import dev.cay.server.access.ApiKeys;
import dev.cay.server.access.Team;
import dev.cay.server.access.Teams;
import dev.cay.server.request.RequestBody;
import dev.cay.server.sandbox.Sandboxes;
import dev.cay.server.template.Templates;
import dev.cay.server.volume.Volumes;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.TeamId;
import dev.cay.wire.rest.AdminTeam;
import java.util.Map;

/// Teams, for the operator.
public final class TeamAdminRoutes {
    private final Access access;
    private final Teams teams;
    private final ApiKeys keys;
    private final Sandboxes sandboxes;
    private final Templates templates;
    private final Volumes volumes;

    public TeamAdminRoutes(
            Access access, Teams teams, ApiKeys keys, Sandboxes sandboxes, Templates templates, Volumes volumes) {
        this.access = access;
        this.teams = teams;
        this.keys = keys;
        this.sandboxes = sandboxes;
        this.templates = templates;
        this.volumes = volumes;
    }

    public void addTo(Routes routes) {
        routes.on("GET", "/admin/teams", access.guardAdmin(this::list));
        routes.on("POST", "/admin/teams", access.guardAdmin(this::create));
        routes.on("DELETE", "/admin/teams/{teamID}", access.guardAdmin(this::delete));
        routes.on("POST", "/admin/teams/{teamID}/sandboxes/kill", access.guardAdmin(this::kill));
        routes.on("GET", "/admin/sandboxes/running-counts", access.guardAdmin(this::counts));
    }

    private void list(Exchange exchange) {
        var counts = keys.countByTeam();
        var running = sandboxes.runningByTeam();
        exchange.sendJson(
                200,
                teams.list().stream().map(team -> info(team, counts, running)).toList());
    }

    private static AdminTeam info(Team team, Map<TeamId, Integer> keys, Map<TeamId, Integer> running) {
        return new AdminTeam(
                team.id(),
                team.name(),
                team.slug(),
                keys.getOrDefault(team.id(), 0),
                running.getOrDefault(team.id(), 0));
    }

    private void create(Exchange exchange) {
        var body = RequestBody.of(exchange);
        String name = body.text("name");
        if (name == null) {
            throw RequestBody.invalid("'name' is required: what people know the team by");
        }
        var team = teams.create(name, body.filled("slug"));
        exchange.about("team", team.id().value()).sendJson(201, info(team, Map.of(), Map.of()));
    }

    private void delete(Exchange exchange) {
        var team = team(exchange);
        // First, because emptying this team would be of no use.
        teams.requireNotFirst(team);
        int alive = sandboxes.list(team).size();
        int own = templates.list(team).size() + templates.snapshots(team).size();
        int kept = volumes.count(team);
        if (alive > 0 || own > 0 || kept > 0) {
            throw new CayException(
                    ErrorKind.CONFLICT,
                    "team '%s' has %d sandboxes, %d templates and snapshots, and %d volumes; end and delete these first"
                            .formatted(team.name(), alive, own, kept));
        }
        teams.delete(team);
        exchange.send(204);
    }

    private void kill(Exchange exchange) {
        var killed = sandboxes.killAll(team(exchange));
        exchange.sendJson(200, Map.of("killedCount", killed.ended(), "failedCount", killed.failed()));
    }

    private void counts(Exchange exchange) {
        exchange.sendJson(200, sandboxes.runningByTeam());
    }

    private Team team(Exchange exchange) {
        return access.requireTeam(new TeamId(exchange.parameter("teamID")));
    }
}
