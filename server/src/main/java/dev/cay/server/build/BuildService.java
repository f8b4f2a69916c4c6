package dev.cay.server.build;

import dev.cay.http.Routes;
import dev.cay.server.access.Access;
import dev.cay.server.access.SandboxTokens;
import dev.cay.server.quota.Quotas;
import dev.cay.server.sandbox.SandboxDirectory;
import dev.cay.server.snapshot.Snapshots;
import dev.cay.server.store.Store;
import dev.cay.server.template.TemplateSupply;
import dev.cay.server.template.Templates;
import dev.cay.wire.node.NodeBuilds;
import dev.cay.wire.node.Resources;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/// Creates the classes for builds of templates and connects them.
public final class BuildService {
    /// Most processors of a template.
    public static final int MOST_CPUS = 32;

    /// Settings of builds.
    ///
    /// @param usual        default sizes of a template
    /// @param mostMemoryMB most memory of a template
    /// @param mostDiskMB   most disk of a template: the size of the pool, which can grow
    /// @param mostPerTeam  most concurrent builds of one team
    /// @param mostUpload   most bytes of one archive of files
    /// @param images       which images mean templates, as `image=template`
    /// @param logs         directory of the builds' logs
    public record Settings(
            Resources usual,
            int mostMemoryMB,
            IntSupplier mostDiskMB,
            int mostPerTeam,
            long mostUpload,
            List<String> images,
            Path logs) {
        public Settings {
            images = List.copyOf(images);
        }
    }

    private final Builds builds;
    private final List<Consumer<Routes>> routes;

    public BuildService(
            Settings settings,
            Store store,
            Access access,
            Quotas quotas,
            Templates templates,
            TemplateSupply supply,
            NodeBuilds node,
            SandboxTokens tokens,
            Snapshots snapshots,
            SandboxDirectory sandboxes,
            Builds.LogListener listener,
            InstantSource clock) {
        var bases = new BuildBases(access, templates, supply, new ImageNames(settings.images()));
        var rules = new BuildRequest.Rules(settings.usual(), settings.mostMemoryMB(), settings.mostDiskMB());
        builds = new Builds(
                store,
                templates,
                bases,
                node,
                new BuildLogs(settings.logs()),
                listener,
                snapshots::discardUnclaimed,
                new BuildLimits(
                        templates,
                        team -> most(
                                settings.mostPerTeam(), quotas.of(team.id()).builds()),
                        family -> Optional.ofNullable(quotas.ofKeys(family).builds())));
        routes = List.of(
                new BuildRoutes(access, templates, builds, rules)::addTo,
                new FileRoutes(access, templates, node, tokens, clock, settings.mostUpload())::addTo,
                new ImageRoutes(access, supply, node)::addTo,
                new TemplateChanges(access, templates, builds, snapshots, sandboxes)::addTo);
    }

    private static int most(int ofAll, @Nullable Integer ofTeam) {
        return ofTeam == null ? ofAll : Math.min(ofAll, ofTeam);
    }

    /// Continues builds that an earlier daemon began.
    public void start() {
        builds.start();
    }

    public void addTo(Routes all) {
        routes.forEach(one -> one.accept(all));
    }
}
