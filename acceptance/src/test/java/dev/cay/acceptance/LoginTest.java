package dev.cay.acceptance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.cay.platform.NpmClient;
import dev.cay.platform.OwnCay;
import dev.cay.testing.NeedsRoot;
import dev.cay.testing.OwnPort;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.TestFactory;

/// `e2b auth login` with a real browser, on a platform of its own that has an issuer of OpenID Connect.
@NeedsRoot
final class LoginTest {
    @TestFactory
    List<DynamicNode> theCommandLineSignsInByABrowser() throws Exception {
        var browser = BrowserTest.browser();
        assumeTrue(browser.isPresent(), "no Chromium here; Debian's package is called chromium");
        int issuerPort = OwnPort.free();
        var settings = Map.of("signIn.issuer", "http://127.0.0.1:" + issuerPort, "signIn.clientId", "cay");
        try (var platform = OwnCay.start(settings)) {
            assertThat(cay(platform, "team", "member", "add", "default", "ann@example.org"))
                    .contains("is a member");
            var environment = new HashMap<>(platform.environment(OwnCay.Mode.URL));
            assertThat(environment)
                    .containsEntry("E2B_DOCS_BASE", platform.url() + "/docs")
                    .containsEntry("E2B_DASHBOARD_BASE", platform.url() + "/dashboard");
            environment.put("CAY_CHROMIUM", browser.orElseThrow().toString());
            environment.put(
                    "CAY_CLI",
                    NpmClient.install("@e2b/cli", "2.19.0").directory().toString());
            environment.put(
                    "CAY_LINK", cay(platform, "login", "ann@example.org").strip());
            environment.put("CAY_PORT", Integer.toString(platform.port()));
            environment.put("CAY_ISSUER_PORT", Integer.toString(issuerPort));
            var cases = new ClientTests(NpmClient.e2b())
                    .run("login.test.mjs", environment)
                    .cases(platform);
            assertThat(platform.output()).doesNotContain("cay_refresh_", "cay_session_", "cay_link_");
            return cases;
        }
    }

    private static String cay(OwnCay platform, String... arguments) throws Exception {
        var process = platform.cay(arguments).start();
        var output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        var errors = new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(() -> output + errors).isZero();
        return output;
    }
}
