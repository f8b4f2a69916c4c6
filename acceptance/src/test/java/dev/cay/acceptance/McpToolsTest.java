package dev.cay.acceptance;

import dev.cay.bench.NpmClient;
import dev.cay.bench.OwnCay;
import java.util.HashMap;
import java.util.List;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import tools.jackson.databind.json.JsonMapper;

/// Sandboxes as tools of an MCP client.
@ExtendWith(TestPlatform.class)
@Timeout(3000)
final class McpToolsTest {
    @TestFactory
    List<DynamicNode> tenTools(OwnCay platform) throws Exception {
        platform.awaitTemplate("code-interpreter-v1");
        var client = new ClientTests(NpmClient.install("@modelcontextprotocol/sdk", "1.32.2"));
        var environment = new HashMap<>(platform.environment(OwnCay.Mode.URL));
        environment.put(
                "CAY_MCP",
                JsonMapper.shared().writeValueAsString(platform.cay("mcp").command()));
        return client.run("mcp/tools.test.mjs", environment).cases(platform);
    }
}
