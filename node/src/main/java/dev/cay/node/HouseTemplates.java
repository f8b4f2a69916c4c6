package dev.cay.node;

import dev.cay.life.Progress;
import dev.cay.node.host.Programs;
import dev.cay.node.image.BuildProgress;
import dev.cay.node.image.HouseTemplate;
import dev.cay.node.image.LayerStore;
import dev.cay.node.image.TemplateBuilds;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/// Templates that come with Cay: `base`, without which the node is of no use, and those that are made when asked for.
final class HouseTemplates implements AutoCloseable {
    private final HouseTemplate base;
    private final TemplateBuilds others;
    private volatile List<String> baseLayers = List.of();

    /// @param logs directory for logs of builds
    HouseTemplates(LayerStore layers, Path logs) {
        var all = HouseTemplate.names().stream()
                .map(name -> new HouseTemplate(name, layers, Programs.ofHost(), logs))
                .collect(Collectors.toCollection(ArrayList::new));
        // The first of the names is base.
        this.base = all.removeFirst();
        this.others = new TemplateBuilds(layers, all);
    }

    /// Templates besides base, which are made in the background.
    TemplateBuilds others() {
        return others;
    }

    /// Builds the template `base` unless it is there.
    ///
    /// @return its layers, top first
    List<String> makeBase(Progress progress) {
        if (base.isBuilt()) {
            baseLayers = base();
            return baseLayers;
        }
        progress.step("making the base template (once per machine)");
        var began = System.nanoTime();
        baseLayers = base.build(BuildProgress.paced(progress));
        progress.done("base template made in "
                + Duration.ofNanos(System.nanoTime() - began).toSeconds() + " s");
        return baseLayers;
    }

    /// Layers of base for a sandbox of the node's own, top first.
    List<String> base() {
        return base.build((_, _, _) -> {});
    }

    /// Layers of base that {@link #makeBase} found; empty before.
    List<String> baseLayers() {
        return baseLayers;
    }

    @Override
    public void close() {
        others.close();
    }
}
