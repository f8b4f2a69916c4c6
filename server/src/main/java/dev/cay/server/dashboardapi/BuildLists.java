package dev.cay.server.dashboardapi;

import dev.cay.http.Exchange;
import dev.cay.http.Routes;
import dev.cay.server.access.Access;
import dev.cay.server.access.Team;
import dev.cay.server.request.RequestBody;
import dev.cay.server.template.TemplateBuild;
import dev.cay.server.template.TemplateRecord;
import dev.cay.server.template.TemplateSupply;
import dev.cay.server.template.Templates;
import dev.cay.wire.BuildId;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.rest.Contract;
import dev.cay.wire.rest.DashboardView;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Builds of all templates of a team.
final class BuildLists {
    private static final String BUILDS = DashboardApi.PREFIX + "/builds";
    private static final Set<String> STATUSES = Set.of("building", "failed", "success");
    private static final Pattern ID = Pattern.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");
    private static final int MOST_IDS = 100;

    private final Access access;
    private final Templates templates;
    private final TemplateSupply supply;

    BuildLists(Access access, Templates templates, TemplateSupply supply) {
        this.access = access;
        this.templates = templates;
        this.supply = supply;
    }

    void addTo(Routes routes) {
        routes.on("GET", BUILDS, access.guard(this::list));
        routes.on("GET", BUILDS + "/statuses", access.guard(this::statuses));
        routes.on("GET", BUILDS + "/{buildID}", access.guard(this::show));
    }

    private record OfTemplate(TemplateRecord template, TemplateBuild build) {
        String id() {
            return build.id().value();
        }
    }

    private void list(Team team, Exchange exchange) {
        var wanted = isIn(chosen(exchange)).and(named(exchange.query("build_id_or_template")));
        var order = CursorPage.Order.<OfTemplate>byTime(
                "created", false, one -> one.build().createdAt(), OfTemplate::id);
        var page = CursorPage.cut(exchange, builds(team).filter(wanted).toList(), order, CursorPage.Parameters.LIST);
        exchange.sendJson(
                200,
                new DashboardView.Page<>(page.items().stream().map(this::listed).toList(), page.nextCursor()));
    }

    private DashboardView.ListedBuild listed(OfTemplate one) {
        var template = one.template();
        var build = one.build();
        return new DashboardView.ListedBuild(
                build.id(),
                template.aliases().isEmpty()
                        ? template.id().value()
                        : template.aliases().getFirst(),
                template.id(),
                status(one),
                failure(build),
                build.createdAt(),
                build.finishedAt(),
                build.resources().cpuCount(),
                build.resources().memoryMB(),
                build.resources().diskSizeMB(),
                Contract.ENVD_VERSION);
    }

    /// Builds of others, and those that are not there any more, are left out.
    private void statuses(Team team, Exchange exchange) {
        String text = exchange.query("build_ids");
        var ids = text == null || text.isEmpty() ? List.<String>of() : List.of(text.split(",", -1));
        if (ids.isEmpty() || ids.size() > MOST_IDS || ids.stream().anyMatch(id -> !isId(id))) {
            throw RequestBody.invalid("'build_ids' must be 1 to %d ids of builds with commas".formatted(MOST_IDS));
        }
        var wanted = Set.copyOf(
                ids.stream().map(id -> id.toLowerCase(Locale.ROOT)).distinct().toList());
        exchange.sendJson(
                200,
                new DashboardView.BuildStates(builds(team)
                        .filter(one -> wanted.contains(one.id()))
                        .map(one -> new DashboardView.BuildState(
                                one.build().id(), status(one), one.build().finishedAt(), failure(one.build())))
                        .toList()));
    }

    private void show(Team team, Exchange exchange) {
        String id = exchange.parameter("buildID");
        if (!isId(id)) {
            throw RequestBody.invalid("the id of a build is a UUID");
        }
        var wanted = new BuildId(id.toLowerCase(Locale.ROOT));
        var found = Stream.concat(
                        builds(team), templates.snapshots(team).stream().flatMap(BuildLists::ofTemplate))
                .filter(one -> one.build().id().equals(wanted))
                .findFirst()
                .orElseThrow(
                        () -> new CayException(ErrorKind.NOT_FOUND, "this team has no build %s".formatted(wanted)));
        var build = found.build();
        exchange.sendJson(
                200,
                new DashboardView.Build(
                        found.template().names(),
                        build.createdAt(),
                        build.finishedAt(),
                        status(found),
                        failure(build)));
    }

    private Stream<OfTemplate> builds(Team team) {
        return templates.list(team).stream().flatMap(BuildLists::ofTemplate);
    }

    private static Stream<OfTemplate> ofTemplate(TemplateRecord template) {
        return template.builds().stream().map(build -> new OfTemplate(template, build));
    }

    private static boolean isId(String text) {
        return ID.matcher(text.toLowerCase(Locale.ROOT)).matches();
    }

    private static Set<String> chosen(Exchange exchange) {
        var chosen = exchange.queryAll("statuses").stream()
                .flatMap(value -> Arrays.stream(value.split(",")))
                .map(String::strip)
                .filter(value -> !value.isEmpty())
                .distinct()
                .toList();
        if (!STATUSES.containsAll(chosen)) {
            throw RequestBody.invalid("'statuses' may have building, failed and success, with commas");
        }
        return chosen.isEmpty() ? STATUSES : Set.copyOf(chosen);
    }

    private Predicate<OfTemplate> isIn(Set<String> statuses) {
        return one -> statuses.contains(status(one));
    }

    /// The build of this id, or all of the template of this id or name.
    private static Predicate<OfTemplate> named(@Nullable String text) {
        if (text == null || text.isBlank()) {
            return _ -> true;
        }
        String name = text.strip().toLowerCase(Locale.ROOT);
        return one -> one.id().equals(name)
                || one.template().id().value().equals(name)
                || one.template().aliases().contains(name)
                || one.template().names().contains(name);
    }

    private String status(OfTemplate one) {
        return switch (supply.status(one.template(), one.build())) {
            case "ready" -> "success";
            case "error" -> "failed";
            default -> "building";
        };
    }

    private static @Nullable String failure(TemplateBuild build) {
        return build.failure() == null ? null : build.failure().message();
    }
}
