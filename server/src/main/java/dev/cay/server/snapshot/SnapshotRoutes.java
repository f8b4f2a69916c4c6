package dev.cay.server.snapshot;

import dev.cay.http.Exchange;
import dev.cay.http.Routes;
import dev.cay.server.access.Access;
import dev.cay.server.access.Caller;
import dev.cay.server.access.Team;
import dev.cay.server.paging.ListPage;
import dev.cay.server.request.RequestBody;
import dev.cay.server.sandbox.Pauses;
import dev.cay.server.sandbox.SandboxView;
import dev.cay.server.sandbox.Sandboxes;
import dev.cay.server.template.TemplateBuild;
import dev.cay.server.template.TemplateName;
import dev.cay.server.template.TemplateRecord;
import dev.cay.server.template.Templates;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.Keep;
import dev.cay.wire.rest.SnapshotInfo;
import java.time.Duration;
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

    /// @param timeout default lifetime of a paused sandbox after a rollback
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
        routes.on("POST", "/sandboxes/{sandboxID}/snapshots", access.guardCaller(this::take));
        routes.on("GET", "/snapshots", access.guard(this::list));
        routes.on("POST", "/sandboxes/{sandboxID}/rollback", access.guard(this::rollback));
    }

    /// `memory` is Cay's own: false saves the files alone.
    private void take(Caller caller, Exchange exchange) {
        var body = RequestBody.of(exchange);
        var keep = Boolean.FALSE.equals(body.bool("memory")) ? Keep.FILES : Keep.MEMORY;
        var sandbox = sandboxes.requireRunning(caller.team(), id(exchange));
        var taken = snapshots.take(caller, sandbox, body.text("name"), keep);
        exchange.about("template", taken.template().id().value())
                .about("build", taken.build().id().value())
                .sendJson(201, info(taken));
    }

    private void list(Team team, Exchange exchange) {
        var all = templates.snapshots(team).stream()
                .filter(named(team, exchange))
                .flatMap(template -> template.builds().stream().map(build -> new Snapshots.Taken(template, build)))
                .filter(tagged(exchange).and(from(exchange)))
                .filter(taken -> !taken.tags().isEmpty())
                .toList();
        var page = ListPage.cut(
                exchange,
                all,
                taken -> taken.build().createdAt(),
                taken -> taken.build().id().value(),
                false);
        exchange.sendJson(200, page.stream().map(SnapshotRoutes::info).toList());
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
                templates.require(team, text).tagged(TemplateName.parse(text).tag());
        String saved = build.map(TemplateBuild::snapshot).orElse(null);
        if (saved == null || !sandbox.id().value().equals(build.get().sandboxId())) {
            throw new CayException(
                    ErrorKind.CONFLICT,
                    "'%s' is not a snapshot of sandbox %s; a sandbox rolls back only to its own snapshots, but a new sandbox can start from any"
                            .formatted(text, sandbox.id()));
        }
        var back = pauses.rollback(sandbox, saved, wanted);
        exchange.sendJson(200, view.info(back));
    }

    private static Predicate<Snapshots.Taken> from(Exchange exchange) {
        String text = exchange.query("sandboxID");
        if (text == null || text.isEmpty()) {
            return _ -> true;
        }
        String id = SandboxId.parse(text).value();
        return taken -> id.equals(taken.build().sandboxId());
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
        String tag = TemplateName.parse(text).tagOrDefault();
        return taken -> taken.tags().contains(tag);
    }

    private static SnapshotInfo info(Snapshots.Taken taken) {
        var names = taken.template().names().stream()
                .flatMap(name -> taken.tags().stream().map(tag -> name + ":" + tag))
                .toList();
        String id = names.isEmpty() ? taken.template().id() + ":" + taken.tags().getFirst() : names.getFirst();
        return new SnapshotInfo(
                id,
                names,
                taken.template().id(),
                taken.build().id(),
                taken.build().sandboxId(),
                taken.build().createdAt());
    }

    private static SandboxId id(Exchange exchange) {
        return SandboxId.parse(exchange.parameter("sandboxID"));
    }
}
