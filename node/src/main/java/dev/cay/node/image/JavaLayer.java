package dev.cay.node.image;

import dev.cay.node.host.Programs;
import dev.cay.wire.CayException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The layer with a Java of its own, `/opt/java`: a copy of the JDK that runs Cay, with what cells need of it.
///
/// Debian's is too old, and the JDK that is here already need not be fetched. Another JDK on the host makes another
/// layer, and leaves the tree below as it is.
final class JavaLayer {
    private static final Logger log = LoggerFactory.getLogger(JavaLayer.class);
    private static final Duration LIMIT = Duration.ofMinutes(10);

    /// Counts up when something else is made of the same JDK.
    private static final String VERSION = "1";

    /// Options of jlink besides the output directory.
    private static final List<String> OPTIONS = List.of(
            "--add-modules",
            "java.se,jdk.jshell,jdk.unsupported,jdk.zipfs,jdk.httpserver,jdk.net,jdk.charsets",
            "--strip-debug",
            "--no-header-files",
            "--no-man-pages",
            "--compress",
            "zip-6",
            "--generate-cds-archive");

    private final LayerStore layers;
    private final Programs programs;
    private final Path logs;
    private final Path home;

    /// @param home of a JDK
    JavaLayer(LayerStore layers, Programs programs, Path logs, Path home) {
        this.layers = layers;
        this.programs = programs;
        this.logs = logs;
        this.home = home;
    }

    /// Builds the layer unless it exists.
    ///
    /// @return the layer's key; empty where this JDK cannot be copied, and the template is built without Java
    Optional<String> build() {
        var jlink = home.resolve("bin/jlink");
        if (!Files.isExecutable(jlink)) {
            log.atWarn().addKeyValue("java", home).log("the language java is left out: this JDK has no jlink");
            return Optional.empty();
        }
        var version = Runtime.version();
        String key = "java-"
                + Recipe.hash(List.of(VERSION, version.toString(), HostArchitecture.name(), String.join(" ", OPTIONS)));
        try {
            layers.build(key, rootfs -> fill(rootfs, jlink));
            return Optional.of(key);
        } catch (CayException e) {
            if (Thread.currentThread().isInterrupted()) {
                throw e;
            }
            log.atWarn()
                    .addKeyValue("reason", e.getMessage())
                    .log("the runner for Java could not be built; the language is left out");
            return Optional.empty();
        }
    }

    private void fill(Path rootfs, Path jlink) throws Exception {
        var target = Files.createDirectories(rootfs.resolve("opt")).resolve("java");
        var command = new ArrayList<>(List.of(jlink.toString()));
        command.addAll(OPTIONS);
        command.addAll(List.of("--output", target.toString()));
        try (var written = BuildLog.open(logs, "java")) {
            written.follow(programs, LIMIT, Map.of(), command, "copy the JDK");
        }
    }
}
