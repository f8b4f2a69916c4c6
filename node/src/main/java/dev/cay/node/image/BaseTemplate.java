package dev.cay.node.image;

import dev.cay.life.Undo;
import dev.cay.node.host.Programs;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// The layer under every template: a small Debian with Python, Node and the usual tools, made on the host itself.
///
/// What is in it stands in `templates/base`. Nothing is started while it is built, and no secret of the host goes in.
public final class BaseTemplate {
    private static final Duration LIMIT = Duration.ofMinutes(30);

    static final String REACH = "check that this host reaches its package mirrors and the npm registry";

    /// Any fixed time does; it keeps two builds of one recipe alike.
    private static final Map<String, String> ENVIRONMENT =
            Map.of("SOURCE_DATE_EPOCH", "1735689600", "DEBIAN_FRONTEND", "noninteractive");

    private final LayerStore layers;
    private final Programs programs;
    private final Path logs;
    private final Recipe recipe = Recipe.base();
    private final String suite = recipe.version("suite");

    /// @param logs directory for the build's log
    public BaseTemplate(LayerStore layers, Programs programs, Path logs) {
        this.layers = layers;
        this.programs = programs;
        this.logs = logs;
    }

    /// Content key of the layer: changes with the recipe, the CPU and the Debian release.
    public String key() {
        return recipe.key(architecture());
    }

    public boolean isBuilt() {
        return layers.has(key());
    }

    /// Builds unless it is there.
    ///
    /// @return the layer's key
    public String build(BuildProgress progress) {
        String key = key();
        layers.build(key, rootfs -> fill(rootfs, progress));
        progress.at("base template ready", "%d MB".formatted(layers.size(key) >> 20), 1);
        return key;
    }

    private void fill(Path rootfs, BuildProgress progress) throws IOException {
        requireTools();
        Files.createDirectories(logs);
        var log = logs.resolve("base-template.log");
        var work = Files.createTempDirectory("cay-base-");
        try (var undo = new Undo();
                var writer = Files.newBufferedWriter(log)) {
            undo.step(() -> programs.require(LIMIT, "rm", "-rf", "--", work.toString()));
            var sources = new AptSources(Path.of("/etc"), suite).list();
            var node = new NodeJs(programs, recipe, sources);
            debootstrap(rootfs, sources, progress, writer, log);
            progress.at("adding Node", recipe.version("node"), 0.85);
            node.install(rootfs, work, line -> write(writer, line), log);
            progress.at("setting up the user", "user", 0.97);
            var setup = Files.writeString(work.resolve("setup.sh"), recipe.setup());
            run(List.of("sh", setup.toString(), rootfs.toString()), "set up", writer, log);
        }
    }

    private void requireTools() {
        var missing = BuildTools.missing(programs);
        if (!missing.isEmpty()) {
            throw new CayException(
                    ErrorKind.UNAVAILABLE,
                    "the base template needs %s on this host: %s"
                            .formatted(String.join(", ", missing.keySet()), BuildTools.mend(missing)));
        }
    }

    private void debootstrap(Path rootfs, List<String> sources, BuildProgress progress, Writer log, Path logFile) {
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
        var steps = new AptProgress(progress, 0.85);
        int exit = programs.follow(LIMIT, ENVIRONMENT, command, line -> {
            write(log, line);
            steps.heard(line);
        });
        if (exit != 0) {
            throw failed("install Debian", steps.complaint(), REACH, logFile);
        }
    }

    private void run(List<String> command, String what, Writer log, Path logFile) {
        var last = new String[] {""};
        int exit = programs.follow(LIMIT, ENVIRONMENT, command, line -> {
            write(log, line);
            last[0] = line;
        });
        if (exit != 0) {
            throw failed(what, last[0], "the log says what was missing", logFile);
        }
    }

    static CayException failed(String what, String complaint, String mend, Path log) {
        return new CayException(
                ErrorKind.UNAVAILABLE,
                "the base template could not %s (%s): %s, then try again; the whole log is %s"
                        .formatted(what, complaint.isBlank() ? "no reason given" : complaint.strip(), mend, log));
    }

    /// The proxy apt uses on this host, which the apt of the new tree does not know of.
    private Optional<String> proxy() {
        var asked = programs.run(Duration.ofSeconds(10), "apt-config", "shell", "PROXY", "Acquire::http::Proxy");
        String[] parts = asked.ok() ? asked.output().strip().split("'") : new String[0];
        return parts.length == 2 ? Optional.of(parts[1]) : Optional.empty();
    }

    private static void write(Writer log, String line) {
        try {
            log.write(line + "\n");
            log.flush();
        } catch (IOException _) {
            // A log that cannot be written is no reason to stop.
        }
    }

    static String architecture() {
        return switch (System.getProperty("os.arch")) {
            case "amd64", "x86_64" -> "x64";
            case "aarch64", "arm64" -> "arm64";
            case String other -> throw new CayException(ErrorKind.NOT_IMPLEMENTED, "no base template for " + other);
        };
    }
}
