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
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/// Finds what a build begins with.
final class BuildBases {
    /// Templates that come with Cay are made when somebody asks, which takes this long at most.
    private static final Duration PATIENCE = Duration.ofMinutes(60);

    private static final Duration EVERY = Duration.ofSeconds(2);
    private static final String STEP = "base";

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

    /// What the node is told. May wait for a template that is being made.
    BuildPlan plan(TemplateRecord template, TemplateBuild build, BuildStart start, NodeBuilds.Watcher watcher) {
        var team = access.requireTeam(template.teamId());
        var from = await(team, templateName(start), watcher);
        if (from.snapshot() != null && from.start() == null) {
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT,
                    "a template cannot be built from what was saved of a sandbox; name a template");
        }
        var started = from.start();
        String command = start.startCmd();
        String ready = start.readyCmd();
        if (command == null && ready == null && started != null) {
            command = started.command();
            ready = started.ready();
        }
        return new BuildPlan(
                build.id(),
                template.id(),
                template.teamId(),
                new BuildPlan.Base.Layers(
                        from.origin().layers(),
                        from.origin().defaultUser(),
                        from.origin().defaultWorkdir(),
                        started == null ? Map.of() : started.environment()),
                start.steps(),
                start.force(),
                command,
                ready,
                build.resources());
    }

    private String templateName(BuildStart start) {
        if (start.fromTemplate() != null) {
            return start.fromTemplate();
        }
        String image = String.valueOf(start.fromImage());
        return images.template(image)
                .orElseThrow(() -> new CayException(
                        ErrorKind.NOT_IMPLEMENTED,
                        "image '%s' stands for no template here, and this version of Cay fetches no images; "
                                        .formatted(image)
                                + "the operator can say which template it stands for with images.names"));
    }

    private StartPoint await(Team team, String name, NodeBuilds.Watcher watcher) {
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
            try {
                TimeUnit.NANOSECONDS.sleep(EVERY.toNanos());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new CayException(ErrorKind.CANCELED, "the build was stopped", e);
            }
        }
    }
}
