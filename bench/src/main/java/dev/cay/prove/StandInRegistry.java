package dev.cay.prove;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.cay.node.host.Programs;
import dev.cay.node.image.LayerStore;
import dev.cay.node.image.oci.Images;
import dev.cay.node.image.oci.LayerLimits;
import dev.cay.node.image.oci.RegistrySettings;
import dev.cay.testing.ProbeFile;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// A registry on loopback that serves the same image under every name. The MCP server in it reports its arguments and
/// variables.
final class StandInRegistry implements AutoCloseable {
    private static final Pattern PART = Pattern.compile("/v2/.+/(manifests|blobs)/([^/]+)");
    private static final List<String> REGISTRIES = List.of("docker.io", "ghcr.io", "mcr.microsoft.com");

    private final HttpServer server;
    private final ExecutorService threads = Executors.newFixedThreadPool(4);
    private final Path blobs;
    private final JsonNode manifest;

    /// @param directory an empty one
    StandInRegistry(Path directory) throws IOException {
        var layout = image(directory);
        this.blobs = layout.resolve("blobs/sha256");
        this.manifest = JsonMapper.shared()
                .readTree(Files.readAllBytes(layout.resolve("index.json")))
                .path("manifests")
                .path(0);
        this.server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.createContext("/", this::answer);
        server.start();
    }

    private static Path image(Path directory) throws IOException {
        var layer = Files.createDirectories(directory.resolve("layer"));
        ProbeFile.unpack(layer);
        var archive = directory.resolve("image.tar");
        try (var images = new Images(
                        new LayerStore(directory),
                        directory,
                        RegistrySettings.DEFAULT,
                        LayerLimits.DEFAULT,
                        () -> Images.client(RegistrySettings.DEFAULT).build());
                var out = Files.newOutputStream(archive)) {
            var line = List.of("/" + ProbeFile.NAME, "mcp", "tell");
            images.write(List.of(layer), Map.of("Entrypoint", line, "WorkingDir", "/app"), "stand-in:latest", out);
        }
        var layout = Files.createDirectories(directory.resolve("layout"));
        Programs.ofHost().require(Duration.ofMinutes(1), "tar", "-xf", archive.toString(), "-C", layout.toString());
        return layout;
    }

    /// The setting `images.mirrors`.
    String mirrors() {
        return REGISTRIES.stream()
                .map(registry -> "%s=http://127.0.0.1:%d"
                        .formatted(registry, server.getAddress().getPort()))
                .collect(Collectors.joining(","));
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            var part = PART.matcher(exchange.getRequestURI().getPath());
            if (!part.matches()) {
                exchange.sendResponseHeaders(exchange.getRequestURI().getPath().equals("/v2/") ? 200 : 404, -1);
                return;
            }
            boolean asked = part.group(1).equals("manifests");
            String digest = asked ? manifest.path("digest").asString() : part.group(2);
            var file = blobs.resolve(digest.replace("sha256:", ""));
            if (!Files.isRegularFile(file)) {
                exchange.sendResponseHeaders(404, -1);
                return;
            }
            exchange.getResponseHeaders()
                    .set("Content-Type", asked ? manifest.path("mediaType").asString() : "application/octet-stream");
            exchange.sendResponseHeaders(200, Files.size(file));
            Files.copy(file, exchange.getResponseBody());
        }
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
