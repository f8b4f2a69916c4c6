package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/// A link of the operator signs a browser in, whose cookie is good for pages of Cay alone, until it signs out.
interface SignInBrowserContract extends SignInCalls {
    @Test
    default void aLinkIsGoodOnceAndForTenMinutes() {
        String link = link("ann@example.org");
        assertThat(cay().request("GET", "/sign-in/link?token=" + link, Map.of()).text())
                .contains("Sign in as ann@example.org");
        assertThat(cay().request("HEAD", "/sign-in/link?token=" + link, Map.of())
                        .status())
                .isEqualTo(200);
        assertThat(post("/sign-in/link", Map.of("token", link), Map.of()).status())
                .isEqualTo(303);
        assertThat(post("/sign-in/link", Map.of("token", link), Map.of()).status())
                .isEqualTo(404);
        String old = link("ann@example.org");
        cay().clock.pass(Duration.ofMinutes(10));
        assertThat(post("/sign-in/link", Map.of("token", old), Map.of()).status())
                .isEqualTo(404);
    }

    @Test
    default void onlyTheOperatorMakesLinks() {
        for (var headers : List.of(
                Map.<String, String>of(),
                Map.of("X-API-Key", cay().key),
                Map.of("Authorization", "Bearer " + login("ann@example.org").get("accessToken")))) {
            assertThat(cay().request("POST", "/admin/people/ann@example.org/link", headers, "{}")
                            .status())
                    .isEqualTo(401);
        }
        assertThat(cay().admin("POST", "/admin/people/eve@example.org/link", "{}")
                        .message())
                .contains("cay team member add");
    }

    @Test
    default void nobodyButTheOperatorsOwnPageSignsABrowserIn() {
        String link = link("ann@example.org");
        for (String origin : List.of("http://8000-abc.cay.test:3000", "null", "http://evil.example")) {
            assertThat(post("/sign-in/link", Map.of("token", link), Map.of("Origin", origin))
                            .status())
                    .isEqualTo(403);
        }
        assertThat(post("/sign-in/link", Map.of("token", link), Map.of("Sec-Fetch-Site", "same-site"))
                        .status())
                .isEqualTo(403);
    }

    @Test
    default void pagesRunNothingAndStandInNoFrame() {
        var browser = browser("ann@example.org");
        for (String path : List.of(
                PAGE + "?next=" + NEXT,
                PAGE + "?state=success&email=%3Cscript%3E",
                PAGE + "?state=error&error=%3Cscript%3E",
                "/sign-in")) {
            var page = cay().request("GET", path, browser);
            assertThat(page.header("Content-Security-Policy"))
                    .contains("default-src 'none'")
                    .contains("frame-ancestors 'none'");
            assertThat(page.header("X-Frame-Options")).isEqualTo("DENY");
            assertThat(page.header("Access-Control-Allow-Credentials")).isNull();
            assertThat(page.header("Cache-Control")).isEqualTo("no-store");
            assertThat(page.text()).doesNotContain("<script");
        }
    }

    @Test
    default void signingOutEndsTheCookie() {
        var browser = browser("ann@example.org");
        var home = cay().request("GET", "/sign-in", browser);
        var found = HIDDEN.matcher(home.text());
        assertThat(found.find()).isTrue();
        var token = cay().request("POST", "/sign-in/token", withOrigin(browser))
                .json()
                .get("accessToken")
                .stringValue();
        assertThat(teams(Map.of("accessToken", token)).status()).isEqualTo(200);
        assertThat(post("/sign-in/out", Map.of("token", found.group(1)), browser)
                        .status())
                .isEqualTo(303);
        assertThat(cay().request("GET", "/sign-in", browser).text()).contains("cay login");
        assertThat(teams(Map.of("accessToken", token)).status()).isEqualTo(401);
    }

    private static Map<String, String> withOrigin(Map<String, String> browser) {
        var all = new HashMap<>(browser);
        all.put("Origin", ORIGIN);
        return all;
    }

    @Test
    default void anotherOriginGetsNoTokenForACookie() {
        var browser = new HashMap<>(browser("ann@example.org"));
        assertThat(cay().request("POST", "/sign-in/token", browser).status()).isEqualTo(403);
        browser.put("Origin", "http://8000-abc.cay.test:3000");
        assertThat(cay().request("POST", "/sign-in/token", browser).status()).isEqualTo(403);
    }

    @Test
    default void theStoreHasOnlyHashes() {
        var browser = browser("ann@example.org");
        var login = told(decide(browser, "allow"));
        String link = link("ann@example.org");
        String cookie = browser.get("Cookie").substring("cay_session=".length());
        cay().store.read(handle -> {
            for (String table : List.of("sign_in_link", "sign_in_secret", "sign_in")) {
                String rows = handle.createQuery("SELECT * FROM " + table)
                        .mapToMap()
                        .list()
                        .toString();
                assertThat(rows).doesNotContain(link, cookie, login.get("refreshToken"), login.get("accessToken"));
            }
            return 0;
        });
    }

    @Test
    default void sandboxesSeeNeitherTokenNorCookie() {
        String id = cay().create();
        var headers = new HashMap<>(browser("ann@example.org"));
        headers.put("Authorization", "Bearer " + login("ann@example.org").get("accessToken"));
        headers.put("Host", "8000-" + id + ".cay.test:8443");
        assertThat(cay().request("GET", "/", headers)
                        .json()
                        .get("withheld")
                        .valueStream()
                        .map(JsonNode::stringValue))
                .contains("authorization", "cookie");
    }
}
