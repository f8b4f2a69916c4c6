package dev.cay.node.image;

import dev.cay.node.host.Programs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/// A layer with npm modules and files on top of another template, without a Debian of its own.
final class AddedLayer {
    private static final Duration LIMIT = Duration.ofMinutes(10);

    private final LayerStore layers;
    private final Programs programs;
    private final Path logs;
    private final Recipe recipe;
    private final String tree;
    private final String below;

    /// @param logs  directory for the build's log
    /// @param tree  key of the layer at the bottom, whose npm is used
    /// @param below key of the layer below this one
    AddedLayer(LayerStore layers, Programs programs, Path logs, Recipe recipe, String tree, String below) {
        this.layers = layers;
        this.programs = programs;
        this.logs = logs;
        this.recipe = recipe;
        this.tree = tree;
        this.below = below;
    }

    String key() {
        return recipe.key(HostArchitecture.name(), below);
    }

    /// Megabytes of disk that it still takes, about.
    int missingMB() {
        return layers.has(key()) ? 0 : recipe.sizeMB();
    }

    /// Builds the layer unless it exists; the tree must exist.
    ///
    /// @return the layer's key
    String build(BuildProgress progress) {
        layers.build(key(), progress, this::fill);
        return key();
    }

    private void fill(Path rootfs, BuildProgress progress) throws IOException {
        TreeLayer.requireSpace(recipe, rootfs);
        Files.createDirectories(rootfs.resolve("usr/local/bin"));
        var work = Files.createTempDirectory("cay-template-");
        try (var log = BuildLog.open(logs, recipe.name())) {
            progress.at("adding", String.join(" ", recipe.modules()), 0.1);
            new NodeJs(programs, recipe, List.of()).addModules(layers.require(tree), rootfs, log);
            progress.at("setting up", recipe.name(), 0.95);
            SetupScripts.run(recipe, rootfs, work, programs, LIMIT, log);
        } finally {
            LayerStore.calmly(() -> programs.require(LIMIT, "rm", "-rf", "--", work.toString()));
        }
    }
}
