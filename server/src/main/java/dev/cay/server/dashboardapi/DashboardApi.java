package dev.cay.server.dashboardapi;

import dev.cay.http.Routes;
import dev.cay.server.access.Access;
import dev.cay.server.build.BuildService;
import dev.cay.server.quota.Quotas;
import dev.cay.server.template.TemplateSupply;
import dev.cay.server.template.Templates;
import java.time.Duration;
import java.util.Map;

/// The routes of E2B's dashboard API. Their paths collide with those of the API, so the edge serves them at a host of
/// their own and below a prefix.
public final class DashboardApi {
    public static final String PREFIX = "/dashboard-api";

    private final BuildLists builds;
    private final TemplateLists templates;
    private final TagLists tags;
    private final TeamFacts teams;

    /// @param longest   longest life of a sandbox
    /// @param keptEvents how long events are kept
    public DashboardApi(
            Access access,
            Templates templates,
            TemplateSupply supply,
            Quotas quotas,
            BuildService.Settings building,
            Duration longest,
            Duration keptEvents) {
        this.builds = new BuildLists(access, templates, supply);
        this.templates = new TemplateLists(access, templates, supply);
        this.tags = new TagLists(access, templates);
        this.teams = new TeamFacts(access, quotas, building, longest, keptEvents);
    }

    public void addTo(Routes routes) {
        routes.on("GET", PREFIX + "/health", exchange -> exchange.sendJson(200, Map.of("message", "Cay serves")));
        builds.addTo(routes);
        templates.addTo(routes);
        tags.addTo(routes);
        teams.addTo(routes);
    }
}
