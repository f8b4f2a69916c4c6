package dev.cay.acceptance;

import dev.cay.platform.NpmClient;
import dev.cay.platform.OwnCay;
import dev.cay.testing.NeedsRoot;
import java.util.List;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/// Claude Code, the program itself, with a model that follows a script.
@ExtendWith(TestPlatform.class)
@Timeout(3000)
@NeedsRoot
final class ClaudeCodeTest {
    @TestFactory
    List<DynamicNode> callsTheTools(OwnCay platform) throws Exception {
        platform.awaitTemplate("code-interpreter-v1");
        // It asks for a newer Node than it needs: the program is one binary.
        var client = NpmClient.installAnyway("@anthropic-ai/claude-code", "2.1.325");
        return new ClientTests(client)
                .run("mcp/claude.test.mjs", McpToolsTest.environment(platform))
                .cases(platform);
    }
}
