package dev.cay.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.platform.NpmClient;
import dev.cay.platform.OwnCay;
import dev.cay.testing.NeedsRoot;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Software that others wrote against E2B, unmodified from the npm registry. What each does is in
/// `src/test/js/software`.
@NeedsRoot
@Timeout(value = 20, unit = TimeUnit.MINUTES)
final class SoftwareTest {
    private static OwnCay platform;

    @BeforeAll
    static void start() throws Exception {
        platform = OwnCay.start(PackageMirrors.opened());
    }

    @AfterAll
    static void stop() throws Exception {
        if (platform != null) {
            platform.close();
        }
    }

    @Test
    void desktop() throws Exception {
        platform.awaitTemplate("desktop");
        run("desktop.mjs", OwnCay.Mode.DOMAIN, "@e2b/desktop@2.4.0");
    }

    /// With its default constructor, which builds a template with packages of Debian.
    @Test
    void mastra() throws Exception {
        run("mastra.mjs", OwnCay.Mode.URL, "@mastra/e2b@0.8.0", "@mastra/core@1.71.0");
    }

    @Test
    void computeSdk() throws Exception {
        run("computesdk.mjs", OwnCay.Mode.DOMAIN, "@computesdk/e2b@1.7.52", "computesdk@4.1.4");
    }

    @Test
    void openAiAgents() throws Exception {
        run(
                "openai-agents.mjs",
                OwnCay.Mode.DOMAIN,
                "@openai/agents-extensions@0.18.0",
                "@openai/agents@0.18.0",
                "e2b@2.51.0");
    }

    private static void run(String script, OwnCay.Mode mode, String... packages) throws Exception {
        var client = NpmClient.installTogether(packages);
        var environment = new HashMap<>(platform.environment(mode));
        // It tells its makers of each use otherwise.
        environment.putAll(Map.of("MASTRA_TELEMETRY_DISABLED", "1", "OPENAI_AGENTS_DISABLE_TRACING", "1"));
        var process = client.program(environment, NodeProgram.newerNode().toString(), "src/test/js/software/" + script)
                .redirectErrorStream(true)
                .start();
        process.getOutputStream().close();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isZero();
        assertThat(output).contains("all good");
    }
}
