package dev.cay.server.snapshot;

import dev.cay.http.Exchange;
import dev.cay.http.Routes;
import dev.cay.server.access.Access;
import dev.cay.server.access.Team;
import dev.cay.server.paging.Page;
import dev.cay.server.sandbox.Pauses;
import dev.cay.server.sandbox.RequestBody;
import dev.cay.server.sandbox.SandboxView;
import dev.cay.server.sandbox.Sandboxes;
import dev.cay.server.template.TemplateName;
import dev.cay.server.template.TemplateRecord;
import dev.cay.server.template.Templates;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.Keep;
import dev.cay.wire.rest.SnapshotInfo;
import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;

/// Take, list and delete snapshots, and go back to one.
public final class SnapshotRoutes {
    private final Access access;
    private final Sandboxes sandboxes;
    private final Templates templates;
    private final Snapshots snapshots;
    private final Pauses pauses;
    private final SandboxView view;
    private final Duration timeout;
    private final Duration maxTimeout;

    /// @param timeout how long a paused sandbox lives that goes back to a snapshot, when its client did not say
    public SnapshotRoutes(
            Access access,
            Sandboxes sandboxes,
            Templates templates,
            Snapshots snapshots,
            Pauses pauses,
            SandboxView view,
            Duration timeout,
            Duration maxTimeout) {
        this.access = access;
        this.sandboxes = sandboxes;
        this.templates = templates;
        this.snapshots = snapshots;
        this.pauses = pauses;
        this.view = view;
        this.timeout = timeout;
        this.maxTimeout = maxTimeout;
    }

    public void addTo(Routes routes) {
        routes.on("POST", "/sandboxes/{sandboxID}/snapshots", access.guard(this::take));
        routes.on("GET", "/snapshots", access.guard(this::list));
        routes.on("DELETE", "/templates/{templateID}", access.guard(this::delete));
        routes.on("POST", "/sandboxes/{sandboxID}/rollback", access.guard(this::rollback));
    }

    /// `memory` is Cay's own: false saves the files alone.
    private void take(Team team, Exchange exchange) {
        var body = RequestBody.of(exchange);
        var keep = Boolean.FALSE.equals(body.bool("memory")) ? Keep.FILES : Keep.MEMORY;
        var sandbox = sandboxes.requireRunning(team, id(exchange));
        exchange.sendJson(201, info(snapshots.take(team, sandbox, body.text("name"), keep)));
    }

    private void list(Team team, Exchange exchange) {
        var all = templates.snapshots(team).stream()
                .filter(named(team, exchange))
                .flatMap(template -> template.snapshots().stream().map(build -> new Snapshots.Taken(template, build)))
                .filter(tagged(exchange).and(from(exchange)))
                .toList();
        var page = Page.cut(
                exchange,
                all,
                taken -> taken.build().createdAt(),
                taken -> taken.build().name(),
                false);
        exchange.sendJson(200, page.stream().map(SnapshotRoutes::info).toList());
    }

    /// The contract refuses while sandboxes made from it live, as they would lose what they stand on. Here each has a
    /// copy of its own, and clients delete snapshots when they are done with them, so it is done.
    private void delete(Team team, Exchange exchange) {
        String text = exchange.parameter("templateID");
        var template = templates.requireUntagged(team, text);
        if (!template.isSnapshot()) {
            throw new CayException(
                    ErrorKind.NOT_IMPLEMENTED,
                    "deleting a template that is no snapshot is not supported by this version of Cay");
        }
        snapshots.delete(template);
        exchange.send(204);
    }

    private void rollback(Team team, Exchange exchange) {
        var body = RequestBody.of(exchange);
        String text = body.text("snapshotID");
        if (text == null || text.isBlank()) {
            throw RequestBody.invalid("'snapshotID' is required: a snapshot of this sandbox");
        }
        var wanted = body.timeout(timeout, maxTimeout);
        var sandbox = sandboxes.require(team, id(exchange));
        var build =
                templates.require(team, text).snapshot(TemplateName.parse(text).tag());
        if (build.filter(saved -> saved.sandboxId().equals(sandbox.id().value()))
                .isEmpty()) {
            throw new CayException(
                    ErrorKind.CONFLICT,
                    "'%s' was not saved from sandbox %s; only that can be gone back to, anything else can be created anew"
                            .formatted(text, sandbox.id()));
        }
        var back = pauses.rollback(sandbox, build.get().name(), wanted);
        exchange.sendJson(200, view.info(back));
    }

    private static Predicate<Snapshots.Taken> from(Exchange exchange) {
        String text = exchange.query("sandboxID");
        if (text == null || text.isEmpty()) {
            return _ -> true;
        }
        String id = SandboxId.parse(text).value();
        return taken -> taken.build().sandboxId().equals(id);
    }

    private Predicate<TemplateRecord> named(Team team, Exchange exchange) {
        String text = exchange.query("name");
        if (text == null || text.isEmpty()) {
            return _ -> true;
        }
        int colon = text.indexOf(':');
        var wanted = templates.find(team, colon < 0 ? text : text.substring(0, colon));
        return template -> wanted.isPresent() && wanted.get().id().equals(template.id());
    }

    /// A bare name means all its tags.
    private static Predicate<Snapshots.Taken> tagged(Exchange exchange) {
        String text = exchange.query("name");
        if (text == null || text.indexOf(':') < 0) {
            return _ -> true;
        }
        var name = TemplateName.parse(text);
        return taken -> name.isTagged(taken.build().tag());
    }

    private static SnapshotInfo info(Snapshots.Taken taken) {
        var names = taken.template().names().stream()
                .map(name -> name + ":" + taken.build().tag())
                .toList();
        String id =
                names.isEmpty() ? taken.template().id() + ":" + taken.build().tag() : names.getFirst();
        return new SnapshotInfo(id, List.copyOf(names));
    }

    private static SandboxId id(Exchange exchange) {
        return SandboxId.parse(exchange.parameter("sandboxID"));
    }
}
