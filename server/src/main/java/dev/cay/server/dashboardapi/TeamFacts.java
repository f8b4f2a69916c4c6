package dev.cay.server.dashboardapi;

import dev.cay.http.Exchange;
import dev.cay.http.Routes;
import dev.cay.server.access.Access;
import dev.cay.server.access.Team;
import dev.cay.server.build.BuildService;
import dev.cay.server.quota.Quotas;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.TeamId;
import dev.cay.wire.rest.DashboardView;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// Limits and status of the team of a request.
final class TeamFacts {
    private static final String TEAM = DashboardApi.PREFIX + "/teams/{teamID}";

    private final Access access;
    private final Quotas quotas;
    private final BuildService.Settings building;
    private final Duration longest;
    private final Duration keptEvents;

    /// @param longest    longest life of a sandbox
    /// @param keptEvents how long events are kept
    TeamFacts(Access access, Quotas quotas, BuildService.Settings building, Duration longest, Duration keptEvents) {
        this.access = access;
        this.quotas = quotas;
        this.building = building;
        this.longest = longest;
        this.keptEvents = keptEvents;
    }

    void addTo(Routes routes) {
        routes.on("GET", TEAM + "/limits", access.guard(this::limits));
        routes.on("GET", TEAM + "/status", access.guard(this::status));
    }

    private void limits(Team team, Exchange exchange) {
        requireOwn(team, exchange);
        var limits = quotas.of(team.id());
        exchange.sendJson(
                200,
                new DashboardView.TeamLimits(
                        limits.profileName(),
                        new DashboardView.TeamLimits.Numbers(
                                Math.max(1, longest.toHours()),
                                smallest(limits.sandboxes()),
                                smallest(limits.builds(), building.mostPerTeam()),
                                smallest(limits.vcpus(), BuildService.MOST_CPUS),
                                smallest(limits.memoryMB(), building.mostMemoryMB()),
                                smallest(limits.diskMB(), building.mostDiskMB().getAsInt()),
                                keptEvents.toDays())));
    }

    /// Cay has no blocked teams: an operator who wants a team to stop revokes its keys.
    private void status(Team team, Exchange exchange) {
        requireOwn(team, exchange);
        exchange.sendJson(200, new DashboardView.TeamStatus(false, false, null));
    }

    private static int smallest(@Nullable Integer limit) {
        return smallest(limit, Integer.MAX_VALUE);
    }

    private static int smallest(@Nullable Integer limit, int most) {
        return limit == null ? most : Math.min(limit, most);
    }

    private static void requireOwn(Team team, Exchange exchange) {
        if (!new TeamId(exchange.parameter("teamID")).equals(team.id())) {
            throw new CayException(ErrorKind.PERMISSION_DENIED, "this API key is of another team");
        }
    }
}
