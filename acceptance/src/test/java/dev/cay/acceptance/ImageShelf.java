package dev.cay.acceptance;

import dev.cay.node.host.Programs;
import dev.cay.node.image.LayerStore;
import dev.cay.node.image.oci.ImageReference;
import dev.cay.node.image.oci.Images;
import dev.cay.node.image.oci.LayerLimits;
import dev.cay.node.image.oci.RegistryCredentials;
import dev.cay.node.image.oci.RegistrySettings;
import dev.cay.testing.OwnRegistry;
import dev.cay.testing.ProbeFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// A registry of a test's own, with images of MCP servers under the names that the catalog has for them.
final class ImageShelf implements AutoCloseable {
    private static final Duration LIMIT = Duration.ofMinutes(1);
    private static final Pattern LIBRARY = Pattern.compile("(/\\S+) \\(0x");
    private static final Path SCRIPTS = Path.of("src/test/js/mcp");

    private final Path directory;
    private final OwnRegistry registry;

    private ImageShelf(Path directory, OwnRegistry registry) {
        this.directory = directory;
        this.registry = registry;
    }

    static ImageShelf start(Path directory) throws IOException, InterruptedException {
        return new ImageShelf(directory, OwnRegistry.start(directory.resolve("registry"), false));
    }

    /// The setting `images.mirrors` with which Cay finds them.
    String mirrors() {
        return Stream.of("docker.io", "ghcr.io")
                .map(host -> "%s=http://%s".formatted(host, registry.host()))
                .collect(Collectors.joining(","));
    }

    /// One static program and nothing else: a server with one tool.
    ImageShelf program(String name, String tool) throws IOException {
        var layer = Files.createTempDirectory(directory, "layer");
        var program = ProbeFile.unpack(layer);
        return push(name, layer, List.of("/" + program.getFileName(), "mcp", tool));
    }

    /// Node with its libraries, and a server that is one file.
    ImageShelf script(String name, String file) throws IOException {
        var layer = Files.createTempDirectory(directory, "layer");
        var node = Path.of(Programs.ofHost().require(LIMIT, "which", "node").strip())
                .toRealPath();
        String libraries = Programs.ofHost().require(LIMIT, "ldd", node.toString());
        for (String library : LIBRARY.matcher(libraries)
                .results()
                .map(found -> found.group(1))
                .toList()) {
            copy(Path.of(library), layer.resolve(library.substring(1)));
        }
        copy(node, layer.resolve("node"));
        copy(SCRIPTS.resolve(file), layer.resolve("server.mjs"));
        return push(name, layer, List.of("/node", "/server.mjs"));
    }

    private static void copy(Path from, Path to) throws IOException {
        Files.createDirectories(to.getParent());
        Files.copy(from, to, StandardCopyOption.COPY_ATTRIBUTES);
    }

    private ImageShelf push(String name, Path layer, List<String> line) throws IOException {
        var work = Files.createTempDirectory(directory, "push");
        var settings = RegistrySettings.DEFAULT.withPlainHttp(Set.of(registry.host()));
        try (var images = new Images(
                new LayerStore(work),
                work,
                settings,
                LayerLimits.DEFAULT,
                () -> Images.client(settings).build())) {
            var archive = work.resolve("image.tar");
            try (var out = Files.newOutputStream(archive)) {
                images.write(List.of(layer), Map.of("Entrypoint", line, "User", "1000"), name + ":latest", out);
            }
            var reference = ImageReference.parse(registry.host() + "/" + name);
            images.push(archive, reference, RegistryCredentials.none(), (_, _, _) -> {});
        }
        return this;
    }

    @Override
    public void close() {
        registry.close();
    }
}
