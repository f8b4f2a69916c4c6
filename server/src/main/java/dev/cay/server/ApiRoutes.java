package dev.cay.server;

import dev.cay.http.Routes;
import dev.cay.server.access.KeyRoutes;
import dev.cay.server.access.TeamRoutes;
import dev.cay.server.admin.LimitRoutes;
import dev.cay.server.admin.TeamAdminRoutes;
import dev.cay.server.admin.TeamNetworkRoutes;
import dev.cay.server.api.ApiDocument;
import dev.cay.server.dashboardapi.DashboardApi;
import dev.cay.server.edge.UnsupportedRoutes;
import dev.cay.server.event.EventRoutes;
import dev.cay.server.identity.IdentityRoutes;
import dev.cay.server.log.LogRoutes;
import dev.cay.server.mcp.AuthorizationRoutes;
import dev.cay.server.metrics.MetricRoutes;
import dev.cay.server.metrics.PrometheusRoutes;
import dev.cay.server.network.TemplateNetworkRoutes;
import dev.cay.server.sandbox.Chores;
import dev.cay.server.sandbox.EgressRoutes;
import dev.cay.server.sandbox.RepeatableCreates;
import dev.cay.server.sandbox.SandboxListing;
import dev.cay.server.sandbox.SandboxRoutes;
import dev.cay.server.sandbox.SandboxView;
import dev.cay.server.secret.SecretRoutes;
import dev.cay.server.snapshot.ForkRoutes;
import dev.cay.server.snapshot.Forks;
import dev.cay.server.snapshot.SnapshotRoutes;
import dev.cay.server.template.TemplateRoutes;
import dev.cay.server.volume.ContentRoutes;
import dev.cay.server.volume.VolumeRoutes;
import dev.cay.server.volume.VolumeTokens;

/// All that the API serves, by what each part of the server can do.
final class ApiRoutes {
    private final ServerSettings settings;
    private final ServerBase base;
    private final TeamParts teams;
    private final NetworkParts networks;
    private final SandboxParts sandboxes;
    private final TemplateParts templates;
    private final ObservationParts observation;
    private final AttachedNode node;
    private final Routes routes = new Routes();

    ApiRoutes(
            ServerSettings settings,
            ServerBase base,
            TeamParts teams,
            NetworkParts networks,
            SandboxParts sandboxes,
            TemplateParts templates,
            ObservationParts observation,
            AttachedNode node) {
        this.settings = settings;
        this.base = base;
        this.teams = teams;
        this.networks = networks;
        this.sandboxes = sandboxes;
        this.templates = templates;
        this.observation = observation;
        this.node = node;
    }

    Routes make() {
        addTeams();
        addTemplates();
        addSandboxes();
        addObservation();
        addVolumes();
        new UnsupportedRoutes(teams.access()).addTo(routes);
        new DashboardApi(
                        teams.access(),
                        templates.templates(),
                        templates.supply(),
                        teams.quotas(),
                        settings.templates().builds(),
                        settings.sandboxes().maxTimeout(),
                        Chores.KEPT)
                .addTo(routes);
        new ApiDocument().addTo(routes);
        return routes;
    }

    private void addTeams() {
        var access = teams.access();
        var own = sandboxes.sandboxes();
        new TeamRoutes(access).addTo(routes);
        new KeyRoutes(access, teams.keys(), own::ownerOf, sandboxes.upkeep().renewal()::ofKey).addTo(routes);
        new TeamAdminRoutes(
                        access,
                        teams.teams(),
                        teams.keys(),
                        own,
                        templates.templates(),
                        sandboxes.storage().volumes())
                .addTo(routes);
        new TeamNetworkRoutes(access, networks.teams(), networks.reader()).addTo(routes);
        new TemplateNetworkRoutes(access, templates.templates(), networks.templates(), networks.reader()).addTo(routes);
        new LimitRoutes(
                        access,
                        teams.quotas(),
                        teams.keys(),
                        own,
                        sandboxes.storage().shares())
                .addTo(routes);
        new SecretRoutes(access, teams.secrets()).addTo(routes);
        new IdentityRoutes(access, teams.identities()).addTo(routes);
        teams.audit().addTo(routes, access);
    }

    private void addTemplates() {
        var supply = templates.supply();
        var fleet = sandboxes.fleet();
        new TemplateRoutes(
                        teams.access(),
                        templates.templates(),
                        supply,
                        () -> fleet.node().sparesByTemplate())
                .addTo(routes);
        templates.builds().addTo(routes);
        templates.collections().addTo(routes);
    }

    private void addSandboxes() {
        var access = teams.access();
        var own = sandboxes.sandboxes();
        var starter = sandboxes.starter();
        var pauses = sandboxes.pauses();
        var snapshots = sandboxes.storage().snapshots();
        var timeout = settings.sandboxes().timeout();
        var maxTimeout = settings.sandboxes().maxTimeout();
        var view = new SandboxView(base.tokens(), settings.domain());
        new SandboxRoutes(
                        access,
                        own,
                        starter,
                        pauses,
                        new RepeatableCreates(base.store(), starter, teams.quotas()),
                        view,
                        teams.quotas(),
                        networks.reader(),
                        sandboxes.storage().volumes(),
                        timeout,
                        maxTimeout)
                .addTo(routes);
        new SandboxListing(access, own, templates.templates(), view).addTo(routes);
        new SnapshotRoutes(access, own, templates.templates(), snapshots, pauses, view, timeout, maxTimeout)
                .addTo(routes);
        new ForkRoutes(access, own, new Forks(snapshots, starter, view, own), teams.quotas(), maxTimeout).addTo(routes);
        new EgressRoutes(access, own, sandboxes.egressLogs()).addTo(routes);
        new AuthorizationRoutes(access, own, node.authorizations()).addTo(routes);
    }

    private void addObservation() {
        var access = teams.access();
        var own = sandboxes.sandboxes();
        new LogRoutes(access, own, observation.logs()).addTo(routes);
        new MetricRoutes(access, own, observation.metrics(), observation.teamMetrics(), base.clock()).addTo(routes);
        new PrometheusRoutes(access, base.meters()).addTo(routes);
        new EventRoutes(access, base.store()).addTo(routes);
        observation.webhooks().addTo(routes);
    }

    private void addVolumes() {
        var volumes = sandboxes.storage().volumes();
        var tokens = new VolumeTokens(base.tokens(), base.clock());
        new VolumeRoutes(teams.access(), volumes, tokens, settings.domain()).addTo(routes);
        new ContentRoutes(teams.access(), volumes, tokens, node.disk().volumes(), teams.quotas()).addTo(routes);
    }
}
