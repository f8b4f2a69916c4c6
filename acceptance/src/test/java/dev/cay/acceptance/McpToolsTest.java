package dev.cay.acceptance;

import dev.cay.platform.NpmClient;
import dev.cay.platform.OwnCay;
import dev.cay.testing.NeedsRoot;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import tools.jackson.databind.json.JsonMapper;

/// Sandboxes as tools of an MCP client.
@ExtendWith(TestPlatform.class)
@Timeout(3000)
@NeedsRoot
final class McpToolsTest {
    private static final String CLASSIC = "@modelcontextprotocol/sdk";

    @TestFactory
    List<DynamicNode> tenTools(OwnCay platform) throws Exception {
        return run(platform, NpmClient.install(CLASSIC, "1.32.2"), "tools", "stdio");
    }

    @TestFactory
    List<DynamicNode> tenToolsOverHttp(OwnCay platform) throws Exception {
        return run(platform, NpmClient.install(CLASSIC, "1.32.2"), "tools", "http");
    }

    @TestFactory
    List<DynamicNode> withoutSessions(OwnCay platform) throws Exception {
        return run(platform, NpmClient.install("@modelcontextprotocol/client", "2.4.0"), "modern", "http");
    }

    private static List<DynamicNode> run(OwnCay platform, NpmClient client, String file, String face) throws Exception {
        platform.awaitTemplate("code-interpreter-v1");
        var environment = environment(platform);
        environment.put("CAY_MCP_FACE", face);
        return new ClientTests(client)
                .run("mcp/%s.test.mjs".formatted(file), environment)
                .cases(platform);
    }

    /// With the command that starts the server.
    static Map<String, String> environment(OwnCay platform) {
        var environment = new HashMap<>(platform.environment(OwnCay.Mode.URL));
        environment.put(
                "CAY_MCP",
                JsonMapper.shared().writeValueAsString(platform.cay("mcp").command()));
        return environment;
    }
}
