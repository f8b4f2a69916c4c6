package dev.cay.node.image;

import dev.cay.node.host.Programs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/// What a template adds to the tree of another: modules of npm and a program, without a Debian of its own.
final class AddedLayer {
    private static final Duration LIMIT = Duration.ofMinutes(10);

    private final LayerStore layers;
    private final Programs programs;
    private final Path logs;
    private final Recipe recipe;
    private final String below;

    /// @param logs  directory for the build's log
    /// @param below key of the tree
    AddedLayer(LayerStore layers, Programs programs, Path logs, Recipe recipe, String below) {
        this.layers = layers;
        this.programs = programs;
        this.logs = logs;
        this.recipe = recipe;
        this.below = below;
    }

    String key() {
        return recipe.key(HostArchitecture.name(), below);
    }

    /// Builds unless it is there; the tree must be.
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
            new NodeJs(programs, recipe, List.of()).addModules(layers.require(below), rootfs, log);
            progress.at("setting up", recipe.name(), 0.95);
            for (String text : recipe.setups()) {
                var setup = Files.writeString(work.resolve("setup.sh"), text);
                log.follow(programs, LIMIT, Map.of(), List.of("sh", setup.toString(), rootfs.toString()), "set up");
            }
        } finally {
            Files.deleteIfExists(work.resolve("setup.sh"));
            Files.deleteIfExists(work);
        }
    }
}
