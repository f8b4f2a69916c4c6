package dev.cay.server.dashboardapi;

import dev.cay.http.Exchange;
import dev.cay.http.Routes;
import dev.cay.server.access.Access;
import dev.cay.server.access.Team;
import dev.cay.server.paging.ListPage;
import dev.cay.server.request.RequestBody;
import dev.cay.server.template.BuildTag;
import dev.cay.server.template.TemplateBuild;
import dev.cay.server.template.TemplateRecord;
import dev.cay.server.template.Templates;
import dev.cay.wire.rest.DashboardView;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Tags of a template that point at builds which are ready. Cay keeps what a tag points at, and no history: each tag
/// has one assignment.
final class TagLists {
    private static final String TAGS = DashboardApi.PREFIX + "/templates/{templateID}/tags";
    private static final Pattern TAG = Pattern.compile("[a-z0-9_.-]{1,128}");
    private static final Pattern SEARCH = Pattern.compile("[a-z0-9_.-]{0,64}");
    private static final int MOST_ASSIGNMENTS = 25;
    private static final int USUAL_ASSIGNMENTS = 6;

    private static final CursorPage.Parameters GROUPS = new CursorPage.Parameters("tagsLimit", 100, 25, "tagsCursor");

    private final Access access;
    private final Templates templates;

    TagLists(Access access, Templates templates) {
        this.access = access;
        this.templates = templates;
    }

    void addTo(Routes routes) {
        routes.on("GET", TAGS + "/groups", access.guard(this::groups));
        routes.on("GET", TAGS + "/count", access.guard(this::count));
        routes.on("GET", TAGS + "/exists", access.guard(this::exists));
        routes.on("GET", TAGS + "/{tag}/assignments", access.guard(this::assignments));
    }

    private record Assigned(TemplateRecord template, BuildTag tag, TemplateBuild build) {
        String name() {
            return tag.tag();
        }

        DashboardView.TagAssignment shown() {
            return new DashboardView.TagAssignment(
                    id(), build.id(), tag.assignedAt(), build.createdAt(), build.finishedAt());
        }

        /// The same for the same assignment.
        private String id() {
            String text = "%s %s %s %s".formatted(template.id(), tag.tag(), build.id(), tag.assignedAt());
            return UUID.nameUUIDFromBytes(text.getBytes(StandardCharsets.UTF_8)).toString();
        }
    }

    private void groups(Team team, Exchange exchange) {
        // There is never more than one, but a wrong number is refused.
        ListPage.number(exchange, "assignmentLimit", 1, MOST_ASSIGNMENTS, USUAL_ASSIGNMENTS);
        String search = search(exchange);
        var found = ready(team, exchange).stream()
                .filter(one -> one.name().contains(search))
                .toList();
        var page = CursorPage.cut(exchange, found, order(exchange), GROUPS);
        exchange.sendJson(
                200,
                new DashboardView.TagGroups(
                        page.items().stream()
                                .map(one -> new DashboardView.TagGroup(one.name(), List.of(one.shown()), false))
                                .toList(),
                        page.nextCursor()));
    }

    private static CursorPage.Order<Assigned> order(Exchange exchange) {
        String asked = exchange.query("sort");
        String name = asked == null || asked.isEmpty() ? "latest_desc" : asked;
        return switch (name) {
            case "latest_desc", "latest_asc" ->
                CursorPage.Order.byTime(
                        name, name.endsWith("asc"), one -> one.tag().assignedAt(), Assigned::name);
            case "name_asc", "name_desc" ->
                new CursorPage.Order<>(name, name.endsWith("asc"), Assigned::name, Assigned::name);
            default -> throw RequestBody.invalid("'sort' must be latest_desc, latest_asc, name_asc or name_desc");
        };
    }

    private static String search(Exchange exchange) {
        String text = exchange.query("search");
        String part = text == null ? "" : text.strip().toLowerCase(Locale.ROOT);
        if (!SEARCH.matcher(part).matches()) {
            throw RequestBody.invalid("'search' must be at most 64 letters, digits, '-', '_' and '.'");
        }
        return part;
    }

    private void count(Team team, Exchange exchange) {
        exchange.sendJson(200, Map.of("total", ready(team, exchange).size()));
    }

    private void exists(Team team, Exchange exchange) {
        String tag = tag(exchange.query("tag"));
        boolean there =
                ready(team, exchange).stream().anyMatch(one -> one.name().equals(tag));
        exchange.sendJson(200, Map.of("exists", there, "normalizedTag", tag));
    }

    private void assignments(Team team, Exchange exchange) {
        var ready = ready(team, exchange);
        String tag = tag(exchange.parameter("tag"));
        var found = ready.stream().filter(one -> one.name().equals(tag)).toList();
        var order = CursorPage.Order.<Assigned>byTime(
                "assigned", false, one -> one.tag().assignedAt(), Assigned::id);
        var page = CursorPage.cut(exchange, found, order, CursorPage.Parameters.LIST);
        exchange.sendJson(
                200,
                new DashboardView.Page<>(
                        page.items().stream().map(Assigned::shown).toList(), page.nextCursor()));
    }

    private List<Assigned> ready(Team team, Exchange exchange) {
        var template = templates.requireUntagged(team, exchange.parameter("templateID"));
        return template.tags().stream()
                .flatMap(tag -> template.build(tag.buildId()).stream()
                        .filter(TemplateBuild::isReady)
                        .map(build -> new Assigned(template, tag, build)))
                .toList();
    }

    private static String tag(@Nullable String text) {
        String tag = text == null ? "" : text.strip().toLowerCase(Locale.ROOT);
        if (!TAG.matcher(tag).matches()) {
            throw RequestBody.invalid("'tag' must be 1 to 128 letters, digits, '-', '_' and '.'");
        }
        return tag;
    }
}
