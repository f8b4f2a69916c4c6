package dev.cay.server.build;

import dev.cay.http.Exchange;
import dev.cay.http.Routes;
import dev.cay.server.access.Access;
import dev.cay.server.access.Caller;
import dev.cay.server.access.Team;
import dev.cay.server.paging.ListPage;
import dev.cay.server.request.RequestBody;
import dev.cay.server.template.TemplateBuild;
import dev.cay.server.template.Templates;
import dev.cay.wire.BuildId;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.node.BuildLine;
import dev.cay.wire.node.LogLine.Level;
import dev.cay.wire.rest.Contract;
import dev.cay.wire.rest.TemplateBuildInfo;
import dev.cay.wire.rest.TemplateRequested;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/// Routes that build templates.
public final class BuildRoutes {
    private static final int MOST_LINES = 100;
    private static final int MOST_SEARCH = 256;

    private final Access access;
    private final Templates templates;
    private final Builds builds;
    private final BuildRequest.Rules rules;

    BuildRoutes(Access access, Templates templates, Builds builds, BuildRequest.Rules rules) {
        this.access = access;
        this.templates = templates;
        this.builds = builds;
        this.rules = rules;
    }

    public void addTo(Routes routes) {
        routes.on("POST", "/v3/templates", access.guardCaller(this::request));
        routes.on("POST", "/v2/templates", access.guardCaller(this::requestOlder));
        routes.on("POST", "/v2/templates/{templateID}/builds/{buildID}", access.guard(this::begin));
        routes.on("GET", "/templates/{templateID}/builds/{buildID}/status", access.guard(this::status));
        routes.on("GET", "/templates/{templateID}/builds/{buildID}/logs", access.guard(this::logs));
        routes.on("POST", "/templates/{templateID}/builds/{buildID}/cancel", access.guard(this::cancel));
    }

    private void request(Caller caller, Exchange exchange) {
        var requested = builds.request(caller, BuildRequest.read(RequestBody.of(exchange), rules));
        var template = requested.template();
        exchange.about("template", template.id().value())
                .about("build", requested.build().id().value());
        exchange.sendJson(
                202,
                new TemplateRequested(
                        template.id(),
                        requested.build().id(),
                        template.isPublic(),
                        template.names(),
                        requested.build().wantedTags(),
                        template.aliases()));
    }

    /// The route of clients of 2025, whose body needs more fields.
    private void requestOlder(Caller caller, Exchange exchange) {
        var requested = builds.request(caller, BuildRequest.read(RequestBody.of(exchange), rules));
        var template = requested.template();
        var build = requested.build();
        exchange.about("template", template.id().value())
                .about("build", build.id().value());
        Map<String, @Nullable Object> answer = new LinkedHashMap<>();
        answer.put("templateID", template.id());
        answer.put("buildID", build.id());
        answer.put("cpuCount", build.resources().cpuCount());
        answer.put("memoryMB", build.resources().memoryMB());
        answer.put("diskSizeMB", build.resources().diskSizeMB());
        answer.put("public", template.isPublic());
        answer.put("aliases", template.aliases());
        answer.put("createdAt", template.createdAt());
        answer.put("updatedAt", template.updatedAt());
        answer.put("createdBy", null);
        answer.put("lastSpawnedAt", template.lastSpawnedAt());
        answer.put("spawnCount", template.spawnCount());
        answer.put("buildCount", template.buildCount());
        answer.put("envdVersion", Contract.ENVD_VERSION);
        exchange.sendJson(202, answer);
    }

    private void begin(Team team, Exchange exchange) {
        var template = templates.requireOwn(team, exchange.parameter("templateID"));
        var body = RequestBody.of(exchange);
        exchange.about("template", template.id().value());
        builds.begin(team, template, buildId(exchange), BuildStart.read(body), RegistryLogins.read(body));
        exchange.send(202);
    }

    /// Only for the team that builds: the output of builds may have secrets, also for templates that other teams may
    /// use.
    ///
    /// The state is read before the log, so a client that gets "ready" and no further lines has seen all lines.
    private void status(Team team, Exchange exchange) {
        var template = templates.requireOwn(team, exchange.parameter("templateID"));
        var build = Builds.require(template, buildId(exchange));
        int from = ListPage.number(exchange, "logsOffset", 0, Integer.MAX_VALUE, 0);
        int most = ListPage.number(exchange, "limit", 1, MOST_LINES, MOST_LINES);
        var level = level(exchange);
        var lines = level == null
                ? builds.logs().read(build.id(), from, most)
                : builds.logs()
                        .search(
                                team.id(),
                                build.id(),
                                new BuildLogs.Search(
                                        true, from, most, line -> line.level().compareTo(level) >= 0));
        exchange.sendJson(
                200,
                new TemplateBuildInfo(
                        template.id(), build.id(), build.status().text(), List.of(), entries(lines), reason(build)));
    }

    private static TemplateBuildInfo.@Nullable Reason reason(TemplateBuild build) {
        var failure = build.failure();
        return failure == null ? null : new TemplateBuildInfo.Reason(failure.message(), failure.step(), List.of());
    }

    /// Lists log lines by time, forward or backward. `search` is an addition of Cay, as in logs of sandboxes.
    private void logs(Team team, Exchange exchange) {
        var template = templates.requireOwn(team, exchange.parameter("templateID"));
        var build = Builds.require(template, buildId(exchange));
        int most = ListPage.number(exchange, "limit", 0, MOST_LINES, MOST_LINES);
        boolean back = oneOf(exchange, "direction", "forward", "backward").equals("backward");
        oneOf(exchange, "source", "persistent", "temporary");
        String cursor = exchange.query("cursor");
        long moment = cursor == null || cursor.isEmpty() ? (back ? Long.MAX_VALUE : 0) : millis(cursor);
        var level = level(exchange);
        String search = search(exchange);
        Predicate<BuildLine> wanted = line -> (level == null || line.level().compareTo(level) >= 0)
                && (back ? line.at().toEpochMilli() <= moment : line.at().toEpochMilli() >= moment)
                && line.message().contains(search);
        var found = builds.logs().search(team.id(), build.id(), new BuildLogs.Search(!back, 0, most, wanted));
        exchange.sendJson(200, Map.of("logs", entries(found)));
    }

    /// The first of the words where there is none.
    private static String oneOf(Exchange exchange, String name, String usual, String other) {
        String text = exchange.query(name);
        if (text == null || text.isEmpty() || text.equals(usual)) {
            return usual;
        }
        if (text.equals(other)) {
            return other;
        }
        throw new CayException(
                ErrorKind.INVALID_ARGUMENT, "the query parameter '%s' must be %s or %s".formatted(name, usual, other));
    }

    private static String search(Exchange exchange) {
        String text = exchange.query("search");
        if (text != null && text.length() > MOST_SEARCH) {
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT,
                    "the query parameter 'search' must not have more than %d characters".formatted(MOST_SEARCH));
        }
        return text == null ? "" : text;
    }

    private static long millis(String cursor) {
        try {
            return Long.parseLong(cursor);
        } catch (NumberFormatException e) {
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT, "the query parameter 'cursor' must be a time in milliseconds", e);
        }
    }

    private void cancel(Team team, Exchange exchange) {
        var template = templates.requireOwn(team, exchange.parameter("templateID"));
        var build = Builds.require(template, buildId(exchange));
        if (build.status().isOver()) {
            throw new CayException(
                    ErrorKind.CONFLICT,
                    "build %s has ended: %s"
                            .formatted(build.id(), build.status().text()));
        }
        if (!build.isUnderWay()) {
            throw new CayException(
                    ErrorKind.CONFLICT,
                    "template '%s' comes with Cay, which makes it for all teams; this is not cancelled"
                            .formatted(exchange.parameter("templateID")));
        }
        exchange.about("template", template.id().value());
        builds.cancel(template, build.id(), "it was cancelled");
        exchange.send(204);
    }

    private static List<TemplateBuildInfo.Entry> entries(List<BuildLine> lines) {
        return lines.stream()
                .map(line -> new TemplateBuildInfo.Entry(
                        line.at(), line.message(), line.level().name().toLowerCase(Locale.ROOT), line.step()))
                .toList();
    }

    private static @Nullable Level level(Exchange exchange) {
        String text = exchange.query("level");
        if (text == null || text.isEmpty()) {
            return null;
        }
        return Arrays.stream(Level.values())
                .filter(level -> level.name().equalsIgnoreCase(text))
                .findFirst()
                .orElseThrow(() -> new CayException(
                        ErrorKind.INVALID_ARGUMENT, "the query parameter 'level' must be debug, info, warn or error"));
    }

    private static BuildId buildId(Exchange exchange) {
        return new BuildId(exchange.parameter("buildID"));
    }
}
