package dev.cay.server.template;

import dev.cay.http.Exchange;
import dev.cay.http.Routes;
import dev.cay.server.access.Access;
import dev.cay.server.access.Team;
import dev.cay.server.paging.ListPage;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.TeamId;
import dev.cay.wire.TemplateId;
import dev.cay.wire.rest.Contract;
import dev.cay.wire.rest.TemplateAlias;
import dev.cay.wire.rest.TemplateInfo;
import dev.cay.wire.rest.TemplateWithBuilds;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/// Routes that list and show templates.
public final class TemplateRoutes {
    private final Access access;
    private final Templates templates;
    private final TemplateSupply supply;
    private final Supplier<Map<TemplateId, Integer>> spares;

    /// @param spares how many sandboxes of each template were started in advance
    public TemplateRoutes(
            Access access, Templates templates, TemplateSupply supply, Supplier<Map<TemplateId, Integer>> spares) {
        this.access = access;
        this.templates = templates;
        this.supply = supply;
        this.spares = spares;
    }

    public void addTo(Routes routes) {
        routes.on("GET", "/templates", access.guard(this::list));
        routes.on("GET", "/v2/templates", access.guard(this::listPaged));
        routes.on("GET", "/templates/{templateID}", access.guard(this::show));
        routes.on("GET", "/templates/aliases/{alias}", access.guard(this::alias));
    }

    private void list(Team team, Exchange exchange) {
        checkTeam(team, exchange);
        var ready = spares.get();
        exchange.sendJson(
                200,
                templates.list(team).stream()
                        .flatMap(template -> info(template, ready).stream())
                        .toList());
    }

    private void listPaged(Team team, Exchange exchange) {
        checkTeam(team, exchange);
        var page = ListPage.cut(
                exchange,
                templates.list(team),
                TemplateRecord::createdAt,
                template -> template.id().value(),
                false);
        var ready = spares.get();
        exchange.sendJson(
                200,
                page.stream()
                        .flatMap(template -> info(template, ready).stream())
                        .toList());
    }

    private void show(Team team, Exchange exchange) {
        var template = templates.require(team, exchange.parameter("templateID"));
        exchange.sendJson(
                200,
                new TemplateWithBuilds(
                        template.id(),
                        template.isPublic(),
                        template.aliases(),
                        template.names(),
                        template.createdAt(),
                        template.updatedAt(),
                        template.lastSpawnedAt(),
                        template.spawnCount(),
                        spares.get().getOrDefault(template.id(), 0),
                        ListPage.cut(
                                        exchange,
                                        template.builds(),
                                        TemplateBuild::createdAt,
                                        build -> build.id().value(),
                                        false)
                                .stream()
                                .map(build -> build(template, build))
                                .toList()));
    }

    private void alias(Team team, Exchange exchange) {
        var template = templates.require(team, exchange.parameter("alias"));
        exchange.sendJson(200, new TemplateAlias(template.id(), template.isPublic()));
    }

    private static void checkTeam(Team team, Exchange exchange) {
        String asked = exchange.query("teamID");
        if (asked != null && !asked.isEmpty() && !new TeamId(asked).equals(team.id())) {
            throw new CayException(ErrorKind.INVALID_ARGUMENT, "teamID is not the team of this API key; leave it away");
        }
    }

    /// A template in a list: the build that its bare name means, or the status of its newest build; nothing without a
    /// build.
    private Optional<TemplateInfo> info(TemplateRecord template, Map<TemplateId, Integer> ready) {
        return template.current()
                .map(build -> new TemplateInfo(
                        template.id(),
                        build.id(),
                        build.resources().cpuCount(),
                        build.resources().memoryMB(),
                        build.resources().diskSizeMB(),
                        template.isPublic(),
                        template.aliases(),
                        template.names(),
                        template.createdAt(),
                        template.updatedAt(),
                        null,
                        template.lastSpawnedAt(),
                        template.spawnCount(),
                        template.buildCount(),
                        Contract.ENVD_VERSION,
                        supply.status(template, build),
                        ready.getOrDefault(template.id(), 0)));
    }

    private TemplateWithBuilds.Build build(TemplateRecord template, TemplateBuild build) {
        return new TemplateWithBuilds.Build(
                build.id(),
                supply.status(template, build),
                build.createdAt(),
                build.updatedAt(),
                build.finishedAt(),
                build.resources().cpuCount(),
                build.resources().memoryMB(),
                build.resources().diskSizeMB(),
                Contract.ENVD_VERSION);
    }
}
