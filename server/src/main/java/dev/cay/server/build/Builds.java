package dev.cay.server.build;

import dev.cay.server.access.Caller;
import dev.cay.server.access.Team;
import dev.cay.server.store.Store;
import dev.cay.server.template.BuildFailure;
import dev.cay.server.template.BuildStatus;
import dev.cay.server.template.Origin;
import dev.cay.server.template.TemplateBuild;
import dev.cay.server.template.TemplateRecord;
import dev.cay.server.template.Templates;
import dev.cay.wire.BuildId;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.TemplateId;
import dev.cay.wire.node.BuildLine;
import dev.cay.wire.node.BuildResult;
import dev.cay.wire.node.NodeBuilds;
import dev.cay.wire.node.Resources;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Builds of templates: requests, start, progress and result.
///
/// The next daemon starts interrupted builds again, and the node skips the steps that are done.
public final class Builds {
    private static final Logger log = LoggerFactory.getLogger(Builds.class);

    private static final Duration PAUSE = Duration.ofSeconds(5);
    private static final int TRIES = 100;

    private final Store store;
    private final Templates templates;
    private final BuildBases bases;
    private final NodeBuilds node;
    private final BuildLogs logs;
    private final LogListener listener;
    private final Consumer<String> discard;
    private final BuildLimits limits;

    /// Gets the lines of the logs of all builds, and must not block.
    public interface LogListener {
        void said(TemplateRecord template, BuildId build, BuildLine line);
    }

    /// @param discard deletes a snapshot of the node that is not needed
    Builds(
            Store store,
            Templates templates,
            BuildBases bases,
            NodeBuilds node,
            BuildLogs logs,
            LogListener listener,
            Consumer<String> discard,
            BuildLimits limits) {
        this.store = store;
        this.templates = templates;
        this.bases = bases;
        this.node = node;
        this.logs = logs;
        this.listener = listener;
        this.discard = discard;
        this.limits = limits;
    }

    /// A build that waits for its steps, with its template.
    record Requested(TemplateRecord template, TemplateBuild build) {}

    /// Continues builds that an earlier daemon began.
    public void start() {
        for (var template : templates.all()) {
            for (var build : template.builds()) {
                if (build.status() == BuildStatus.BUILDING) {
                    goOn(template, build);
                }
            }
        }
    }

    private void goOn(TemplateRecord template, TemplateBuild build) {
        var plan = store.read(handle -> BuildPlanStore.read(handle, build.id()));
        if (plan.isEmpty()) {
            fail(
                    template.id(),
                    build.id(),
                    null,
                    "Cay was stopped while it was built, and its steps are not on record");
            return;
        }
        log.atInfo().addKeyValue("build", build.id()).log("continuing a build");
        run(template, build, plan.get(), RegistryLogins.NONE);
    }

    /// Records a requested build of a template, and creates the template if its name is new.
    synchronized Requested request(Caller caller, BuildRequest wanted) {
        var team = caller.team();
        var family = caller.keyFamily();
        templates.requireOwnNamespace(team, wanted.name(), wanted.text());
        if (templates.find(new TemplateId(wanted.name().alias())).isPresent()) {
            throw new CayException(
                    ErrorKind.CONFLICT, "'%s' is the id of a template; choose another name".formatted(wanted.text()));
        }
        var now = templates.now();
        limits.requireRoomForRequest(team, family, now);
        var build = TemplateBuild.waiting(
                new BuildId(UUID.randomUUID().toString()), wanted.resources(), wanted.tags(), family, now);
        var old = templates.findOwn(team, wanted.name());
        var template = old.isEmpty()
                ? templates.add(team, wanted.name().in(team), false, fresh -> fresh.with(build), _ -> {})
                : templates.change(
                        old.get().id(), before -> superseded(before, build, now).with(build));
        return new Requested(template, build);
    }

    /// Fails requested builds that were never started and would have got the same tags.
    private static TemplateRecord superseded(TemplateRecord template, TemplateBuild by, Instant now) {
        if (template.isSnapshot()) {
            throw new CayException(
                    ErrorKind.CONFLICT,
                    "%s was saved from a sandbox; give the template another name".formatted(template.names()));
        }
        var fresh = template;
        for (var other : template.builds()) {
            if (other.status() == BuildStatus.WAITING && sharesTag(other, by)) {
                var why = new BuildFailure(null, "a newer build took its place before it began");
                fresh = fresh.with(other.id(), build -> build.failed(why, now));
            }
        }
        return fresh;
    }

    private static boolean sharesTag(TemplateBuild one, TemplateBuild other) {
        return !Collections.disjoint(one.wantedTags(), other.wantedTags());
    }

    /// Starts a requested build. Running builds that would get the same tags are ended.
    ///
    /// @param logins let the node into the registries of images; they are in no record, so a build that is cut off
    ///               before it has its images cannot go on
    void begin(Team team, TemplateRecord template, BuildId id, BuildStart start, RegistryLogins logins) {
        var begun = building(team, template.id(), id, start);
        var build = require(begun, id);
        for (var other : begun.builds()) {
            if (takesPlaceOf(build, other)) {
                cancel(begun, other.id(), "a newer build took its place");
            }
        }
        run(begun, build, start, logins);
    }

    private static boolean takesPlaceOf(TemplateBuild build, TemplateBuild other) {
        return !other.id().equals(build.id()) && other.status() == BuildStatus.BUILDING && sharesTag(other, build);
    }

    /// Notes that the build begins. Builds that waited too long to count when others were asked for count here, so the
    /// number of builds that run is checked again.
    private synchronized TemplateRecord building(Team team, TemplateId templateId, BuildId id, BuildStart start) {
        var wanted = templates.find(templateId).flatMap(template -> template.build(id));
        var family = wanted.map(TemplateBuild::keyFamily).orElse(null);
        limits.requireRoom(
                team,
                family,
                (template, other) -> other.status() == BuildStatus.BUILDING
                        && !(template.id().equals(templateId)
                                && wanted.filter(build -> takesPlaceOf(build, other))
                                        .isPresent()));
        return templates.change(
                templateId,
                before -> {
                    var build = require(before, id);
                    if (build.status() != BuildStatus.WAITING) {
                        throw new CayException(ErrorKind.INVALID_ARGUMENT, "build is not in waiting state");
                    }
                    return before.with(id, waiting -> waiting.building(templates.now()));
                },
                handle -> BuildPlanStore.write(handle, id, start));
    }

    static TemplateBuild require(TemplateRecord template, BuildId id) {
        return template.build(id)
                .orElseThrow(() -> new CayException(
                        ErrorKind.INVALID_ARGUMENT, "template '%s' has no build '%s'".formatted(template.id(), id)));
    }

    /// Ends a build that is not over. On record first: a build that the node does not know yet must not begin there.
    void cancel(TemplateRecord template, BuildId id, String reason) {
        fail(template.id(), id, null, reason);
        node.cancel(id, reason);
    }

    /// @param failed builds that could not be ended, and go on
    record Cancelled(int cancelled, int failed) {}

    Cancelled cancelAll(Team team) {
        int cancelled = 0;
        int failed = 0;
        for (var template : templates.list(team)) {
            for (var build : template.builds()) {
                if (!build.isUnderWay()) {
                    continue;
                }
                try {
                    cancel(template, build.id(), "it was cancelled");
                    cancelled++;
                } catch (RuntimeException e) {
                    log.atWarn().setCause(e).addKeyValue("build", build.id()).log("a build could not be cancelled");
                    failed++;
                }
            }
        }
        return new Cancelled(cancelled, failed);
    }

    private boolean isUnderWay(TemplateId template, BuildId id) {
        return templates
                .find(template)
                .flatMap(found -> found.build(id))
                .filter(build -> build.status() == BuildStatus.BUILDING)
                .isPresent();
    }

    BuildLogs logs() {
        return logs;
    }

    /// Deletes the logs of a template's builds, and ends the running ones.
    void deleted(TemplateRecord template) {
        for (var build : template.builds()) {
            node.cancel(build.id(), "its template was deleted");
            logs.delete(build.id());
        }
    }

    private void run(TemplateRecord template, TemplateBuild build, BuildStart start, RegistryLogins logins) {
        var watcher = new Watcher(template, build.id(), build.resources());
        Thread.ofVirtual().name("build-begin").start(() -> {
            try {
                BooleanSupplier underWay = () -> isUnderWay(template.id(), build.id());
                var plan = bases.plan(template, build, start, logins, watcher, underWay);
                if (!underWay.getAsBoolean()) {
                    return;
                }
                node.begin(plan, new Watcher(template, build.id(), plan.resources()));
                // A cancellation meanwhile reached the node before it knew the build.
                if (!underWay.getAsBoolean()) {
                    node.cancel(build.id(), BuildBases.ENDED);
                }
            } catch (CayException e) {
                watcher.failed("base", e.userMessage());
            } catch (RuntimeException e) {
                log.atError().setCause(e).addKeyValue("build", build.id()).log("a build could not be started");
                watcher.failed("base", "the platform failed: " + e.getMessage());
            }
        });
    }

    private void fail(TemplateId template, BuildId id, @Nullable String step, String message) {
        settle(template, id, build -> build.failed(new BuildFailure(step, message), templates.now()));
    }

    /// Puts the end of a build on record, unless it has ended before. A database that is away is waited for.
    private boolean settle(TemplateId template, BuildId id, UnaryOperator<TemplateBuild> end) {
        for (int tries = 1; ; tries++) {
            try {
                change(template, before -> ended(before, id, end), handle -> BuildPlanStore.forget(handle, id));
                return templates
                        .find(template)
                        .flatMap(now -> now.build(id))
                        .filter(TemplateBuild::isReady)
                        .isPresent();
            } catch (CayException e) {
                if (e.kind() == ErrorKind.NOT_FOUND) {
                    return false;
                }
                if (e.kind() != ErrorKind.UNAVAILABLE || tries == TRIES) {
                    throw e;
                }
                pause();
            }
        }
    }

    /// Changes a template, and deletes snapshots and builds that nothing can reach afterwards.
    TemplateRecord change(TemplateId id, UnaryOperator<TemplateRecord> change, Consumer<Handle> along) {
        var old = new AtomicReference<TemplateRecord>();
        var fresh = templates.change(
                id,
                before -> {
                    old.set(before);
                    return change.apply(before).pruned();
                },
                along);
        for (var build : old.get().builds()) {
            var now = fresh.build(build.id()).orElse(null);
            if (now == null) {
                logs.delete(build.id());
            }
            if (build.snapshot() != null && (now == null || now.snapshot() == null)) {
                discard.accept(build.snapshot());
            }
        }
        return fresh;
    }

    private static TemplateRecord ended(TemplateRecord template, BuildId id, UnaryOperator<TemplateBuild> end) {
        var build = template.build(id).filter(one -> !one.status().isOver());
        if (build.isEmpty()) {
            return template;
        }
        var over = end.apply(build.get());
        var fresh = template.with(id, _ -> over);
        return over.isReady() ? fresh.tagged(over.wantedTags(), id, over.updatedAt()) : fresh;
    }

    private static void pause() {
        try {
            TimeUnit.NANOSECONDS.sleep(PAUSE.toNanos());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CayException(ErrorKind.CANCELED, "interrupted", e);
        }
    }

    /// Receives the progress of one build from the node.
    private final class Watcher implements NodeBuilds.Watcher {
        private final TemplateRecord template;
        private final BuildId build;
        private final Resources resources;

        /// @param resources of sandboxes of the template
        private Watcher(TemplateRecord template, BuildId build, Resources resources) {
            this.template = template;
            this.build = build;
            this.resources = resources;
        }

        @Override
        public void said(BuildLine line) {
            if (logs.add(build, line)) {
                listener.said(template, build, line);
            }
        }

        @Override
        public void ready(BuildResult result) {
            var origin = new Origin(result.layers(), result.user(), result.workdir());
            boolean kept = settle(
                    template.id(),
                    build,
                    old -> old.ready(resources, origin, result.snapshot(), result.start(), templates.now()));
            log.atInfo()
                    .addKeyValue("build", build)
                    .addKeyValue("template", template.id())
                    .log("template built");
            if (!kept && result.snapshot() != null) {
                discard.accept(result.snapshot());
            }
        }

        @Override
        public void failed(@Nullable String step, String message) {
            fail(template.id(), build, step, message);
        }
    }
}
