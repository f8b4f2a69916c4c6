package dev.cay.node.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.mcp.protocol.Message;
import dev.cay.node.mcp.catalog.LaunchPlan;
import dev.cay.testing.NeedsRoot;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// Real servers in real side sandboxes; packages come from the npm registry the host is set up for.
@NeedsRoot
class ServerHomesTest extends ServerHomeTest {
    private static final String INITIALIZE = """
            {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",
            "capabilities":{},"clientInfo":{"name":"test","version":"1"}}}""";

    @Test
    void speaksWithServersOfNpmPackages() throws Exception {
        var everything = npm("@modelcontextprotocol/server-everything", "2026.8.31", "mcp-server-everything", Map.of());
        assertThat(tools(everything)).contains("echo");

        var notion = npm(
                "@notionhq/notion-mcp-server", "2.5.2", "notion-mcp-server", Map.of("NOTION_TOKEN", "ntn_0123456789"));
        assertThat(tools(notion)).contains("API-post-search");
    }

    private List<String> tools(LaunchPlan plan) throws Exception {
        var client = new Client();
        try (var home = open(plan);
                var link = home.connect(client)) {
            link.send(message(INITIALIZE));
            assertThat(client.next().tree().at("/result/serverInfo/name").asString(""))
                    .isNotEmpty();
            link.send(message("{'jsonrpc':'2.0','method':'notifications/initialized'}"));
            link.send(message("{'jsonrpc':'2.0','id':2,'method':'tools/list'}"));
            var answer = client.next();
            while (answer.kind() != Message.Kind.RESPONSE) {
                answer = client.next();
            }
            return answer.tree()
                    .at("/result/tools")
                    .valueStream()
                    .map(tool -> tool.path("name").asString(""))
                    .toList();
        }
    }
}
