package dev.cay.server.dashboardapi;

import dev.cay.http.Exchange;
import dev.cay.http.Routes;
import dev.cay.server.access.Access;
import dev.cay.server.access.Team;
import dev.cay.server.paging.ListPage;
import dev.cay.server.request.RequestBody;
import dev.cay.server.template.TemplateBuild;
import dev.cay.server.template.TemplateRecord;
import dev.cay.server.template.TemplateSupply;
import dev.cay.server.template.Templates;
import dev.cay.wire.BuildId;
import dev.cay.wire.TemplateId;
import dev.cay.wire.rest.Contract;
import dev.cay.wire.rest.DashboardView;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;

/// Templates of a team, together with those that come with Cay.
final class TemplateLists {
    private static final String TEMPLATES = DashboardApi.PREFIX + "/templates";

    /// Stands for a build where there is none.
    private static final BuildId NO_BUILD = new BuildId("00000000-0000-0000-0000-000000000000");

    private static final Map<String, Function<TemplateRecord, Instant>> TIMES =
            Map.of("created_at", TemplateRecord::createdAt, "updated_at", TemplateRecord::updatedAt);

    private final Access access;
    private final Templates templates;
    private final TemplateSupply supply;

    TemplateLists(Access access, Templates templates, TemplateSupply supply) {
        this.access = access;
        this.templates = templates;
        this.supply = supply;
    }

    void addTo(Routes routes) {
        routes.on("GET", TEMPLATES, access.guard(this::list));
        routes.on("GET", TEMPLATES + "/defaults", access.guard(this::defaults));
        routes.on("GET", TEMPLATES + "/{templateID}", access.guard(this::show));
    }

    private void list(Team team, Exchange exchange) {
        var house = new LinkedHashMap<TemplateId, TemplateRecord>();
        supply.records().forEach(template -> house.put(template.id(), template));
        var all = Stream.concat(
                        house.values().stream(),
                        templates.list(team).stream().filter(template -> !house.containsKey(template.id())))
                .filter(visible(exchange).and(matching(exchange)))
                .filter(template -> template.current().isPresent())
                .toList();
        var page = CursorPage.cut(exchange, all, order(exchange), CursorPage.Parameters.LIST);
        exchange.sendJson(
                200,
                new DashboardView.Page<>(
                        page.items().stream()
                                .map(template -> listed(
                                        template, template.current().orElseThrow(), house.containsKey(template.id())))
                                .toList(),
                        page.nextCursor()));
    }

    private static CursorPage.Order<TemplateRecord> order(Exchange exchange) {
        String asked = exchange.query("sort");
        String name = asked == null || asked.isEmpty() ? "created_at_desc" : asked;
        int end = name.lastIndexOf('_');
        var time = end < 0 ? null : TIMES.get(name.substring(0, end));
        String direction = name.substring(end + 1);
        if (time == null || !(direction.equals("asc") || direction.equals("desc"))) {
            throw RequestBody.invalid(
                    "'sort' must be created_at_asc, created_at_desc, updated_at_asc or updated_at_desc");
        }
        return CursorPage.Order.byTime(
                name, direction.equals("asc"), time, template -> template.id().value());
    }

    private static Predicate<TemplateRecord> visible(Exchange exchange) {
        String text = exchange.query("public");
        if (text == null || text.isEmpty()) {
            return _ -> true;
        }
        boolean wanted = ListPage.bool(exchange, "public");
        return template -> template.isPublic() == wanted;
    }

    private static Predicate<TemplateRecord> matching(Exchange exchange) {
        String text = exchange.query("search");
        if (text == null || text.isBlank()) {
            return _ -> true;
        }
        String part = text.strip().toLowerCase(Locale.ROOT);
        return template -> template.id().value().contains(part)
                || template.names().stream().anyMatch(name -> name.contains(part));
    }

    private static DashboardView.Template listed(TemplateRecord template, TemplateBuild build, boolean house) {
        return new DashboardView.Template(
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
                house);
    }

    private void defaults(Team team, Exchange exchange) {
        var found = supply.records().stream()
                .flatMap(template -> template.current().map(build -> byDefault(template, build)).stream())
                .toList();
        exchange.sendJson(200, new DashboardView.DefaultTemplates(found));
    }

    private static DashboardView.DefaultTemplate byDefault(TemplateRecord template, TemplateBuild build) {
        return new DashboardView.DefaultTemplate(
                template.id(),
                template.aliases().stream()
                        .map(alias -> new DashboardView.Alias(alias, null))
                        .toList(),
                build.id(),
                build.resources().memoryMB(),
                build.resources().cpuCount(),
                build.resources().diskSizeMB(),
                Contract.ENVD_VERSION,
                template.createdAt(),
                template.isPublic(),
                template.buildCount(),
                template.spawnCount());
    }

    private void show(Team team, Exchange exchange) {
        var template = templates.require(team, exchange.parameter("templateID"));
        Optional<TemplateBuild> ready = template.tagged(null).filter(TemplateBuild::isReady);
        exchange.sendJson(
                200,
                new DashboardView.TemplateDetail(
                        template.id(),
                        ready.map(TemplateBuild::id).orElse(NO_BUILD),
                        ready.map(build -> build.resources().cpuCount()).orElse(null),
                        ready.map(build -> build.resources().memoryMB()).orElse(null),
                        ready.map(build -> build.resources().diskSizeMB()).orElse(null),
                        template.isPublic(),
                        template.aliases(),
                        template.names(),
                        template.createdAt(),
                        template.updatedAt(),
                        template.lastSpawnedAt(),
                        template.spawnCount(),
                        template.buildCount(),
                        ready.isPresent() ? Contract.ENVD_VERSION : null));
    }
}
