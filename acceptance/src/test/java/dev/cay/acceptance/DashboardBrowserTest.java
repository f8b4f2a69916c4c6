package dev.cay.acceptance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.cay.platform.NpmClient;
import dev.cay.platform.OwnCay;
import dev.cay.testing.NeedsRoot;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/// The dashboard with a real browser and real sandboxes, on a platform of its own. Leaves pictures of its pages in
/// `target/screenshots`.
@NeedsRoot
final class DashboardBrowserTest {
    @TestFactory
    List<DynamicNode> peopleUseItAndPagesOfSandboxesDoNot(@TempDir Path directory) throws Exception {
        var browser = BrowserTest.browser();
        assumeTrue(browser.isPresent(), "no Chromium here; Debian's package is called chromium");
        new GatewayWorld()
                .script("fixtures", "fixtures-server.mjs")
                .script("marked", "markup-server.mjs")
                .secret("marked", "apiToken", "API_TOKEN")
                .script("broken", "markup-server.mjs", "fail")
                .write(directory);
        var settings = Map.of(
                "webhooks.allow",
                "127.0.0.1",
                "mcp.catalogs",
                directory.resolve("servers.yaml").toString(),
                "templates.prepare",
                "mcp-gateway");
        try (var platform = OwnCay.start(settings)) {
            platform.awaitTemplate("mcp-gateway");
            var environment = new HashMap<>(platform.environment(OwnCay.Mode.URL));
            environment.put(
                    "CAY_DOMAIN",
                    String.valueOf(platform.environment(OwnCay.Mode.DOMAIN).get("E2B_DOMAIN")));
            environment.put("CAY_CHROMIUM", browser.orElseThrow().toString());
            environment.put(
                    "CAY_PLAYWRIGHT",
                    NpmClient.installTogether("playwright-core@1.65.0", "axe-core@4.14.0")
                            .directory()
                            .toString());
            environment.put(
                    "CAY_SCREENSHOTS",
                    Path.of("target", "screenshots").toAbsolutePath().toString());
            environment.put("CAY_LINK", link(platform, "ann@example.org"));
            environment.put("CAY_MEMBER_LINK", link(platform, "olga@example.org"));
            environment.put("CAY_FOREIGN_KEY", key(cay(platform, "team", "create", "others")));
            var restart = platform.directory().resolve("restart");
            environment.put("CAY_RESTART", restart.toString());
            var tests = new ClientTests(NpmClient.e2b());
            var cases =
                    new ArrayList<>(tests.run("dashboard.test.mjs", environment).cases(platform));
            cases.addAll(tests.run("dashboard-list.test.mjs", environment).cases(platform));
            cases.addAll(tests.run("dashboard-team.test.mjs", environment).cases(platform));
            cases.addAll(tests.run("dashboard-mcp.test.mjs", environment).cases(platform));
            try (var _ = new Restarts(platform, restart)) {
                cases.addAll(tests.run("dashboard-work.test.mjs", environment).cases(platform));
            }
            return cases;
        }
    }

    /// Kills the daemon and starts it again each time when the tests make a file.
    private static final class Restarts implements AutoCloseable {
        private final Thread thread;

        Restarts(OwnCay platform, Path wanted) {
            thread = Thread.ofPlatform().name("restarts").start(() -> {
                try {
                    while (true) {
                        if (Files.deleteIfExists(wanted)) {
                            platform.crash();
                            platform.startAgain();
                        }
                        Thread.sleep(100);
                    }
                } catch (InterruptedException e) {
                    // The tests have ended.
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        }

        @Override
        public void close() {
            thread.interrupt();
            try {
                thread.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /// A link that signs a browser in as a member who may do everything.
    private static String link(OwnCay platform, String email) throws Exception {
        assertThat(cay(platform, "team", "member", "add", "default", email)).contains("is a member");
        return cay(platform, "login", email).strip();
    }

    private static String key(String output) {
        var found = Pattern.compile("e2b_[0-9a-f]{40}").matcher(output);
        assertThat(found.find()).as(output).isTrue();
        return found.group();
    }

    private static String cay(OwnCay platform, String... arguments) throws Exception {
        var process = platform.cay(arguments).start();
        var output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        var errors = new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(() -> output + errors).isZero();
        return output;
    }
}
