package dev.cay.node.image;

import dev.cay.life.Undo;
import dev.cay.node.host.Programs;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// The layer at the bottom of a template: a small Debian with Python, Node and what else its recipe names, made on
/// the host itself.
///
/// What is in it stands in `templates`. Nothing is started while it is built, and no secret of the host goes in.
final class TreeLayer {
    private static final Duration LIMIT = Duration.ofMinutes(45);
    private static final Map<String, String> ENVIRONMENT = Map.of("DEBIAN_FRONTEND", "noninteractive");

    /// The part of each step in the progress.
    private static final double DEBIAN = 0.85;

    private final LayerStore layers;
    private final Programs programs;
    private final Path logs;
    private final Recipe recipe;
    private final String suite;

    /// @param logs directory for the build's log
    TreeLayer(LayerStore layers, Programs programs, Path logs, Recipe recipe) {
        this.layers = layers;
        this.programs = programs;
        this.logs = logs;
        this.recipe = recipe;
        this.suite = recipe.version("suite");
    }

    /// Content key of the layer: changes with the recipe, the CPU and the Debian release.
    String key() {
        return recipe.key(HostArchitecture.name());
    }

    /// Megabytes of disk that it still takes, about.
    int missingMB() {
        return layers.has(key()) ? 0 : recipe.sizeMB();
    }

    /// Builds the layer unless it exists.
    ///
    /// @return the layer's key
    String build(BuildProgress progress) {
        String key = key();
        layers.build(key, progress, this::fill);
        return key;
    }

    private void fill(Path rootfs, BuildProgress progress) throws IOException {
        requireTools();
        requireSpace(recipe, rootfs);
        var work = Files.createTempDirectory("cay-template-");
        try (var undo = new Undo();
                var log = BuildLog.open(logs, recipe.name())) {
            undo.step(() -> LayerStore.calmly(() -> programs.require(LIMIT, "rm", "-rf", "--", work.toString())));
            var sources = new AptSources(Path.of("/etc"), suite).list();
            var node = new NodeJs(programs, recipe, sources);
            debootstrap(rootfs, sources, progress, log);
            progress.at("adding Node", recipe.version("node"), DEBIAN);
            node.install(rootfs, work, log);
            node.addModules(rootfs, rootfs, log);
            progress.at("setting up", recipe.name(), 0.95);
            SetupScripts.run(recipe, rootfs, Files.createDirectory(work.resolve("setup")), programs, LIMIT, log);
        }
    }

    private void requireTools() {
        var missing = BuildTools.missing(programs);
        if (!missing.isEmpty()) {
            throw new CayException(
                    ErrorKind.UNAVAILABLE,
                    "template %s needs %s on this host: %s"
                            .formatted(recipe.name(), String.join(", ", missing.keySet()), BuildTools.fix(missing)));
        }
    }

    static void requireSpace(Recipe recipe, Path rootfs) throws IOException {
        long free = Files.getFileStore(rootfs).getUsableSpace() >> 20;
        if (free < recipe.spaceMB()) {
            throw new CayException(
                    ErrorKind.UNAVAILABLE,
                    "template %s needs %,d MB of disk to be made, and %s has only %,d MB free; make room there, or set cacheDir to a larger disk"
                            .formatted(recipe.name(), recipe.spaceMB(), rootfs, free));
        }
    }

    private void debootstrap(Path rootfs, List<String> sources, BuildProgress progress, BuildLog log) {
        var command = new ArrayList<>(List.of(
                "mmdebstrap",
                "--mode=root",
                "--variant=minbase",
                "--format=directory",
                "--verbose",
                "--include=" + String.join(",", recipe.packageList()),
                "--aptopt=Acquire::Retries \"3\"",
                "--aptopt=APT::Install-Recommends \"false\""));
        proxy().ifPresent(proxy -> command.add("--aptopt=Acquire::http::Proxy \"%s\"".formatted(proxy)));
        recipe.dpkgOptions().forEach(option -> command.add("--dpkgopt=" + option));
        command.add(suite);
        command.add(rootfs.toString());
        command.addAll(sources);
        var steps = new AptProgress(progress, DEBIAN);
        int exit = programs.follow(LIMIT, ENVIRONMENT, command, line -> {
            log.line(line);
            steps.heard(line);
        });
        if (exit != 0) {
            throw log.failed("install Debian", steps.complaint(), BuildLog.REACH);
        }
    }

    /// The proxy apt uses on this host, which the apt of the new tree does not know of.
    private Optional<String> proxy() {
        var asked = programs.run(Duration.ofSeconds(10), "apt-config", "shell", "PROXY", "Acquire::http::Proxy");
        String[] parts = asked.ok() ? asked.output().strip().split("'") : new String[0];
        return parts.length == 2 ? Optional.of(parts[1]) : Optional.empty();
    }
}
