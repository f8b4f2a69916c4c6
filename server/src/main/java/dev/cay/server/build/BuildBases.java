package dev.cay.server.build;

import dev.cay.server.access.Access;
import dev.cay.server.access.Team;
import dev.cay.server.template.StartPoint;
import dev.cay.server.template.TemplateBuild;
import dev.cay.server.template.TemplateRecord;
import dev.cay.server.template.TemplateSupply;
import dev.cay.server.template.Templates;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.node.BuildLine;
import dev.cay.wire.node.BuildPlan;
import dev.cay.wire.node.LogLine;
import dev.cay.wire.node.NodeBuilds;
import dev.cay.wire.node.Resources;
import dev.cay.wire.node.StartCommand;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// Finds the base of a build: layers of a template, or an image.
final class BuildBases {
    /// How long to wait for a template that comes with Cay and has to be built first.
    private static final Duration PATIENCE = Duration.ofMinutes(60);

    private static final Duration EVERY = Duration.ofSeconds(2);
    private static final String STEP = "base";

    /// Why a build does not begin that was ended before.
    static final String ENDED = "the build was ended before it began";

    private final Access access;
    private final Templates templates;
    private final TemplateSupply supply;
    private final ImageNames images;

    BuildBases(Access access, Templates templates, TemplateSupply supply, ImageNames images) {
        this.access = access;
        this.templates = templates;
        this.supply = supply;
        this.images = images;
    }

    /// The plan for the node. May wait for a template that is being built.
    ///
    /// @param underWay whether the build is still wanted
    BuildPlan plan(
            TemplateRecord template,
            TemplateBuild build,
            BuildStart start,
            RegistryLogins logins,
            NodeBuilds.Watcher watcher,
            BooleanSupplier underWay) {
        var team = access.requireTeam(template.teamId());
        var dockerfile = start.dockerfile();
        if (dockerfile != null) {
            return plan(
                    template, build, start, base(team, dockerfile, logins, watcher, underWay), null, build.resources());
        }
        var archive = start.archive();
        if (archive != null) {
            var base = new BuildPlan.Base.Archive(archive.filesHash(), archive.image());
            return plan(template, build, start, base, null, build.resources());
        }
        String image = start.fromImage();
        String name =
                image == null ? start.fromTemplate() : images.template(image).orElse(null);
        if (name == null) {
            var base = new BuildPlan.Base.Image(String.valueOf(image), logins.image());
            return plan(template, build, start, base, null, build.resources());
        }
        var from = await(team, name, watcher, underWay);
        // A template has no less disk than the template it is built on.
        var resources = build.resources().withDiskOfAtLeast(from.resources().diskSizeMB());
        return plan(template, build, start, layers(from), from.start(), resources);
    }

    /// The base for a Dockerfile. Images that mean templates are resolved here, because the node knows only layers.
    private BuildPlan.Base.Dockerfile base(
            Team team,
            DockerfileStart start,
            RegistryLogins logins,
            NodeBuilds.Watcher watcher,
            BooleanSupplier underWay) {
        var local = new HashMap<String, BuildPlan.Base.Layers>();
        for (String image : start.images()) {
            images.template(image).ifPresent(name -> local.put(image, layers(await(team, name, watcher, underWay))));
        }
        return new BuildPlan.Base.Dockerfile(
                start.text(),
                start.name(),
                start.filesHash(),
                start.arguments(),
                start.target(),
                local,
                logins.registries());
    }

    private static BuildPlan.Base.Layers layers(StartPoint from) {
        var started = from.start();
        return new BuildPlan.Base.Layers(
                from.origin().layers(),
                // The snapshot of a built template has what its start command runs; all its files are in layers.
                started == null ? from.snapshot() : null,
                from.origin().defaultUser(),
                from.origin().defaultWorkdir(),
                started == null ? Map.of() : started.environment());
    }

    /// @param inherited what the template below starts, unless this one starts something else
    private static BuildPlan plan(
            TemplateRecord template,
            TemplateBuild build,
            BuildStart start,
            BuildPlan.Base base,
            @Nullable StartCommand inherited,
            Resources resources) {
        String command = start.startCmd();
        String ready = start.readyCmd();
        if (command == null && ready == null && inherited != null) {
            command = inherited.command();
            ready = inherited.ready();
        }
        return new BuildPlan(
                build.id(),
                template.id(),
                template.teamId(),
                base,
                start.steps(),
                start.force(),
                command,
                ready,
                resources);
    }

    private StartPoint await(Team team, String name, NodeBuilds.Watcher watcher, BooleanSupplier underWay) {
        long end = System.nanoTime() + PATIENCE.toNanos();
        boolean told = false;
        while (true) {
            try {
                return supply.requireStart(team, name);
            } catch (CayException e) {
                if (e.kind() != ErrorKind.UNAVAILABLE || System.nanoTime() > end) {
                    throw e;
                }
                if (!told) {
                    told = true;
                    watcher.said(new BuildLine(templates.now(), LogLine.Level.INFO, STEP, e.userMessage()));
                }
            }
            if (!underWay.getAsBoolean()) {
                throw new CayException(ErrorKind.CANCELED, ENDED);
            }
            try {
                TimeUnit.NANOSECONDS.sleep(EVERY.toNanos());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new CayException(ErrorKind.CANCELED, "the build was stopped", e);
            }
        }
    }
}
