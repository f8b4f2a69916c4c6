package dev.cay.platform;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import tools.jackson.databind.node.ObjectNode;

/// An MCP server that is a package of npm.
///
/// @param bin which of the package's programs
public record NpmServer(String key, String packageName, String version, String bin) {
    /// Some that need neither credentials nor the network to list their tools.
    public static final List<NpmServer> ALL = List.of(
            new NpmServer("notion", "@notionhq/notion-mcp-server", "2.5.2", "notion-mcp-server"),
            new NpmServer(
                    "everything", "@modelcontextprotocol/server-everything", "2026.8.31", "mcp-server-everything"),
            new NpmServer("memory", "@modelcontextprotocol/server-memory", "2026.8.31", "mcp-server-memory"),
            new NpmServer(
                    "thinking",
                    "@modelcontextprotocol/server-sequential-thinking",
                    "2026.8.31",
                    "mcp-server-sequential-thinking"),
            new NpmServer("exa", "exa-mcp-server", "3.4.1", "exa-mcp-server"));

    /// What a catalog says of it.
    void describe(ObjectNode servers) {
        var entry = servers.putObject(key).put("title", key).put("category", "test");
        entry.putObject("launch")
                .putObject("npm")
                .put("package", packageName)
                .put("version", version)
                .put("bin", bin)
                .put("confirmed", true);
    }

    /// The same program on the host; fetched if it is not there yet.
    public Path onHost() throws IOException, InterruptedException {
        return NpmClient.install(packageName, version)
                .directory()
                .resolve("node_modules/.bin")
                .resolve(bin);
    }
}
