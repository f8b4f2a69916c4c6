package dev.cay.acceptance;

import com.sun.net.httpserver.HttpServer;
import dev.cay.platform.OwnCay;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/// Operators' files that put the servers of `src/test/js/mcp` behind gateways.
final class GatewayWorld {
    private static final Path SCRIPTS = Path.of("src/test/js/mcp");

    private final ObjectNode servers = JsonMapper.shared().createObjectNode();

    /// A server that is one file, which needs nothing but Node.
    GatewayWorld script(String key, String file, String... arguments) throws IOException {
        var entry = entry(key);
        // A dollar begins a variable in these files.
        String source = Files.readString(SCRIPTS.resolve(file)).replace("$", "$$");
        var command = entry.putObject("launch").putArray("command");
        List.of("node", "--input-type=module", "-e", source).forEach(command::add);
        List.of(arguments).forEach(command::add);
        return this;
    }

    /// A server that is an image.
    GatewayWorld image(String key, String name, String... arguments) {
        var entry = entry(key);
        entry.putObject("launch").putObject("image").put("name", name);
        var line = entry.putArray("arguments");
        List.of(arguments).forEach(line::add);
        return this;
    }

    /// A server that runs by itself.
    GatewayWorld remote(String key, String url) {
        entry(key).putObject("launch").putObject("remote").put("url", url);
        return this;
    }

    GatewayWorld secret(String key, String option, String variable) {
        ((ObjectNode) servers.path(key))
                .putObject("options")
                .putObject(option)
                .put("kind", "secret")
                .put("env", variable)
                .put("required", true);
        return this;
    }

    GatewayWorld named(String key, String name) {
        ((ObjectNode) servers.path(key)).put("name", name);
        return this;
    }

    /// The real one, with another address for what it asks.
    GatewayWorld notion(String api) {
        var entry = entry("notion");
        entry.putObject("launch")
                .putObject("npm")
                .put("package", "@notionhq/notion-mcp-server")
                .put("version", "2.5.2")
                .put("bin", "notion-mcp-server")
                .put("confirmed", true);
        secret("notion", "internalIntegrationToken", "INTERNAL_INTEGRATION_TOKEN");
        entry.putObject("env")
                .put(
                        "OPENAPI_MCP_HEADERS",
                        "{\"Authorization\": \"Bearer ${env.INTERNAL_INTEGRATION_TOKEN}\", \"Notion-Version\": \"2022-06-28\"}")
                .put("BASE_URL", api);
        return this;
    }

    private ObjectNode entry(String key) {
        return servers.putObject(key).put("title", key).put("category", "test");
    }

    /// A platform of its own that knows them; `fixtures` goes without a prefix, as a suite calls its tools by name.
    ///
    /// @param images where images come from; no other registry is asked
    OwnCay start(Path directory, ImageShelf images) throws IOException, InterruptedException {
        write(directory);
        return OwnCay.start(Map.of(
                "mcp.catalogs",
                directory.resolve("servers.yaml").toString(),
                "templates.prepare",
                "mcp-gateway",
                "images.mirrors",
                images.mirrors(),
                "images.mirrorsOnly",
                "true"));
    }

    /// An operator's server that notes on all results of tools that it has seen them.
    static HttpServer scrubber() throws IOException {
        var server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            try (exchange) {
                var asked = (ObjectNode)
                        JsonMapper.shared().readTree(exchange.getRequestBody().readAllBytes());
                asked.withArray("/result/content")
                        .addObject()
                        .put("type", "text")
                        .put("text", " (seen)");
                byte[] answer = JsonMapper.shared().writeValueAsBytes(Map.of("result", asked.path("result")));
                exchange.sendResponseHeaders(200, answer.length);
                exchange.getResponseBody().write(answer);
            }
        });
        server.start();
        return server;
    }

    /// Is read at the next start.
    void write(Path directory) throws IOException {
        var file = JsonMapper.shared().createObjectNode();
        file.set("servers", servers);
        // YAML knows all that JSON does.
        Files.writeString(directory.resolve("servers.yaml"), file.toString());
    }
}
