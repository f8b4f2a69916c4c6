package dev.cay.node.image;

import dev.cay.node.host.Programs;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/// A layer with the sources of the dashboard, which are packed into this program, and the npm packages that they name.
///
/// npm verifies each package by the lock file.
public final class DashboardModules {
    /// The directory of the sources in the layer.
    public static final String PLACE = "opt/dashboard";

    /// The kind of the layer with the bundled files.
    public static final String BUILT = "built";

    private static final Duration LIMIT = Duration.ofMinutes(10);
    private static final String RESOURCES = "/dev/cay/node/dashboard";

    /// Counts up when the same sources make another layer.
    private static final String VERSION = "1";

    private final LayerStore layers;
    private final Programs programs;
    private final Map<String, byte[]> sources;

    public DashboardModules(LayerStore layers, Programs programs) throws IOException {
        this.layers = layers;
        this.programs = programs;
        this.sources = sources();
    }

    /// A content key of all sources.
    ///
    /// @param kind of the layer
    public String key(String kind) {
        var inputs = new ArrayList<>(List.of(VERSION, HostArchitecture.name()));
        sources.forEach((name, content) -> {
            inputs.add(name);
            inputs.add(new String(content, StandardCharsets.ISO_8859_1));
        });
        return "dashboard-%s-%s".formatted(kind, LayerStore.hash(inputs));
    }

    /// Whether the files of the dashboard are there.
    public boolean isBuilt() {
        return layers.has(key(BUILT));
    }

    /// Makes the layer unless it exists.
    ///
    /// @param base layer that has Node and npm
    /// @param logs directory for npm's output
    /// @return the layer's key
    public String install(String base, Path logs) {
        String key = key("modules");
        layers.build(key, rootfs -> {
            ChangedFiles.requireSpace(rootfs);
            var place = Files.createDirectories(rootfs.resolve(PLACE));
            for (var each : sources.entrySet()) {
                var file = place.resolve(each.getKey());
                Files.createDirectories(file.getParent());
                Files.write(file, each.getValue());
            }
            var npm = NpmCommand.of(layers.require(base), "ci", List.of("--prefix", place.toString(), "--omit=dev"));
            try (var log = BuildLog.of(logs.resolve("dashboard.log"), "the dashboard")) {
                NodeJs.follow(programs, LIMIT, npm, "fetch its packages", log);
            }
        });
        return key;
    }

    /// All files below the resources' directory, by their paths there.
    private static Map<String, byte[]> sources() throws IOException {
        var root = DashboardModules.class.getResource(RESOURCES + "/package.json");
        if (root == null) {
            throw new CayException(ErrorKind.INTERNAL, "this program was packed without the dashboard");
        }
        try {
            var uri = root.toURI();
            if (!"jar".equals(uri.getScheme())) {
                return read(Objects.requireNonNull(Path.of(uri).getParent()));
            }
            String jar = uri.toString().split("!", 2)[0];
            try (var files = FileSystems.newFileSystem(URI.create(jar), Map.of())) {
                return read(files.getPath(RESOURCES));
            }
        } catch (URISyntaxException e) {
            throw new IOException(e);
        }
    }

    private static Map<String, byte[]> read(Path directory) throws IOException {
        var found = new TreeMap<String, byte[]>();
        try (var files = Files.walk(directory)) {
            for (var file : (Iterable<Path>) files.filter(Files::isRegularFile)::iterator) {
                found.put(directory.relativize(file).toString(), Files.readAllBytes(file));
            }
        }
        return found;
    }
}
