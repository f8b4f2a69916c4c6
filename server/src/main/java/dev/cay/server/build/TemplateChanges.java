package dev.cay.server.build;

import dev.cay.http.Exchange;
import dev.cay.http.Routes;
import dev.cay.server.access.Access;
import dev.cay.server.access.Caller;
import dev.cay.server.access.Team;
import dev.cay.server.request.RequestBody;
import dev.cay.server.sandbox.SandboxDirectory;
import dev.cay.server.snapshot.Snapshots;
import dev.cay.server.template.BuildTag;
import dev.cay.server.template.TemplateName;
import dev.cay.server.template.Templates;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.TeamId;
import dev.cay.wire.rest.TemplateTags;
import java.util.List;
import java.util.Map;

/// Routes that change a template without building it: tags, visibility, deletion.
final class TemplateChanges {
    private final Access access;
    private final Templates templates;

    private final Builds builds;
    private final Snapshots snapshots;
    private final SandboxDirectory sandboxes;

    TemplateChanges(
            Access access, Templates templates, Builds builds, Snapshots snapshots, SandboxDirectory sandboxes) {
        this.access = access;
        this.templates = templates;
        this.builds = builds;
        this.snapshots = snapshots;
        this.sandboxes = sandboxes;
    }

    void addTo(Routes routes) {
        routes.on("POST", "/templates/tags", access.guard(this::assign));
        routes.on("DELETE", "/templates/tags", access.guard(this::remove));
        routes.on("GET", "/templates/{templateID}/tags", access.guard(this::list));
        routes.on("DELETE", "/templates/{templateID}", access.guardCaller(this::delete));
        routes.on("POST", "/admin/teams/{teamID}/builds/cancel", access.guardAdmin(this::cancelAll));
        routes.on("PATCH", "/templates/{templateID}", access.guard(this::publish));
        routes.on("PATCH", "/v2/templates/{templateID}", access.guard(this::publish));
    }

    private void assign(Team team, Exchange exchange) {
        var body = RequestBody.of(exchange);
        String target = required(body, "target");
        var tags = tags(body);
        var template = templates.requireOwn(team, target);
        var build = template.tagged(TemplateName.parse(target).tag())
                .orElseThrow(
                        () -> new CayException(ErrorKind.NOT_FOUND, "template '%s' has no such tag".formatted(target)));
        exchange.about("template", template.id().value())
                .about("build", build.id().value());
        builds.change(template.id(), before -> before.tagged(tags, build.id(), templates.now()), _ -> {});
        exchange.sendJson(201, new TemplateTags(tags, build.id()));
    }

    private void remove(Team team, Exchange exchange) {
        var body = RequestBody.of(exchange);
        String name = required(body, "name");
        if (name.indexOf(':') >= 0) {
            throw RequestBody.invalid("'name' may not have a tag; name the tags in 'tags'");
        }
        var tags = tags(body);
        if (tags.contains(BuildTag.DEFAULT)) {
            throw RequestBody.invalid("the tag 'default' cannot be removed; give it to another build instead");
        }
        var template = templates.requireOwn(team, name);
        exchange.about("template", template.id().value());
        builds.change(template.id(), before -> before.withoutTags(tags), _ -> {});
        exchange.send(204);
    }

    private void list(Team team, Exchange exchange) {
        var template = templates.requireUntagged(team, exchange.parameter("templateID"));
        exchange.sendJson(
                200,
                template.tags().stream()
                        .map(tag -> new TemplateTags.Tag(tag.tag(), tag.buildId(), tag.assignedAt()))
                        .toList());
    }

    private void publish(Team team, Exchange exchange) {
        var template = templates.requireOwn(team, exchange.parameter("templateID"));
        exchange.about("template", template.id().value());
        Boolean toAll = RequestBody.of(exchange).bool("public");
        if (toAll != null && toAll != template.isPublic()) {
            template = templates.change(template.id(), before -> before.published(toAll, templates.now()));
        }
        exchange.sendJson(200, Map.of("names", template.names()));
    }

    /// Deletes a template. A built template is kept while sandboxes use its layers. A snapshot is deleted also
    /// while sandboxes made from it live: each has a copy of its own, and clients delete snapshots when they are
    /// done with them.
    private void delete(Caller caller, Exchange exchange) {
        String text = exchange.parameter("templateID");
        var template = templates.requireOwn(caller.team(), text);
        exchange.about("template", template.id().value());
        caller.scope().requireDeletes(template.isSnapshot());
        if (template.names().stream().anyMatch(name -> name.indexOf('/') < 0)) {
            throw new CayException(
                    ErrorKind.PERMISSION_DENIED, "template '%s' comes with Cay and cannot be deleted".formatted(text));
        }
        long used = template.isSnapshot()
                ? 0
                : sandboxes.list().stream()
                        .filter(sandbox -> sandbox.templateId().equals(template.id()))
                        .count();
        if (used > 0) {
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT,
                    "template '%s' is used by %d running or paused sandboxes; kill them first".formatted(text, used));
        }
        snapshots.delete(template);
        builds.deleted(template);
        exchange.send(204);
    }

    private void cancelAll(Exchange exchange) {
        var done = builds.cancelAll(access.requireTeam(new TeamId(exchange.parameter("teamID"))));
        exchange.sendJson(200, Map.of("cancelledCount", done.cancelled(), "failedCount", done.failed()));
    }

    private static List<String> tags(RequestBody body) {
        var tags = body.texts("tags").stream().map(BuildRequest::tag).distinct().toList();
        if (tags.isEmpty()) {
            throw RequestBody.invalid("'tags' must name at least one tag");
        }
        return tags;
    }

    private static String required(RequestBody body, String name) {
        String value = body.text(name);
        if (value == null || value.isBlank()) {
            throw RequestBody.invalid("'%s' is required: the name of a template".formatted(name));
        }
        return value;
    }
}
