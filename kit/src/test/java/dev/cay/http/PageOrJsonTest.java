package dev.cay.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import dev.cay.wire.EdgeAnswer;
import dev.cay.wire.SandboxAddress;
import dev.cay.wire.SandboxId;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Fast
class PageOrJsonTest {
    private static final String BROWSER = "Mozilla/5.0 (X11; Linux) Firefox/140";

    @TempDir
    @SuppressWarnings("NullAway.Init")
    Path directory;

    @SuppressWarnings("NullAway.Init")
    private TestHttp http;

    @BeforeEach
    void serve() throws Exception {
        http = new TestHttp(
                directory,
                new Routes()
                        .on("GET", "/none", exchange -> PageOrJson.send(exchange, EdgeAnswer.sandboxNotFound("<b>")))
                        .on(
                                "GET",
                                "/closed",
                                exchange -> PageOrJson.send(
                                        exchange,
                                        EdgeAnswer.portClosed(new SandboxAddress(new SandboxId("abc"), 3000))))
                        .on(
                                "GET",
                                "/later",
                                exchange -> PageOrJson.send(exchange, EdgeAnswer.refusal(503, "abc", "not now")))
                        .on(
                                "GET",
                                "/slower",
                                exchange -> PageOrJson.send(exchange, EdgeAnswer.refusal(429, "abc", "too much")))
                        .on(
                                "GET",
                                "/token",
                                exchange -> PageOrJson.send(exchange, EdgeAnswer.trafficTokenNeeded("abc"))));
    }

    @AfterEach
    void stop() {
        http.close();
    }

    @Test
    void speaksJsonToClients() throws Exception {
        assertThat(get("/none", "User-Agent", "e2b-js-sdk/2.51.0").body())
                .isEqualTo("{\"sandboxId\":\"<b>\",\"message\":\"The sandbox was not found\",\"code\":502}");
        assertThat(get("/closed", "User-Agent", "node").body())
                .isEqualTo("{\"sandboxId\":\"abc\",\"message\":\"The sandbox is running but port is not open\","
                        + "\"port\":3000,\"code\":502}");
        HttpResponse<String> token = get("/token", "User-Agent", "node");
        assertThat(token.statusCode()).isEqualTo(403);
        assertThat(token.body()).contains("e2b-traffic-access-token");
    }

    /// Clients read whole seconds only.
    @Test
    void saysWhenToComeAgain() throws Exception {
        for (String path : new String[] {"/later", "/slower"}) {
            for (String agent : new String[] {"node", BROWSER}) {
                assertThat(get(path, "User-Agent", agent).headers().firstValue("Retry-After"))
                        .hasValueSatisfying(seconds -> assertThat(seconds).matches("[1-9]"));
            }
        }
        assertThat(get("/none", "User-Agent", "node").headers().firstValue("Retry-After"))
                .isEmpty();
    }

    @Test
    void showsBrowsersAPageWithoutTheirMarkup() throws Exception {
        HttpResponse<String> page = get("/none", "User-Agent", BROWSER);
        assertThat(page.statusCode()).isEqualTo(502);
        assertThat(page.headers().firstValue("content-type")).contains("text/html; charset=utf-8");
        assertThat(page.body()).contains("&lt;b&gt;").doesNotContain("<b>");
    }

    @Test
    void speaksJsonToScriptsInBrowsers() throws Exception {
        assertThat(get("/none", "User-Agent", BROWSER, "Sec-Fetch-Mode", "cors").body())
                .startsWith("{");
        assertThat(get("/none", "User-Agent", BROWSER, "Accept", "application/json")
                        .body())
                .startsWith("{");
        assertThat(get("/none", "User-Agent", BROWSER, "X-Requested-With", "XMLHttpRequest")
                        .body())
                .startsWith("{");
        assertThat(get("/none", "User-Agent", BROWSER, "Sec-Fetch-Mode", "navigate")
                        .body())
                .startsWith("<");
    }

    private HttpResponse<String> get(String path, String... headers) throws Exception {
        return http.http1().send(http.request(false, path).headers(headers).build(), BodyHandlers.ofString());
    }
}
