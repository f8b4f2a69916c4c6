package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.server.people.PersonAccess;
import dev.cay.testing.Fast;
import dev.cay.wire.node.NodeDashboard;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/// What browsers get below `/dashboard`: files, a session, and the API by way of the relay.
@Fast
final class DashboardTest extends ServerTest {
    private static final String HOST = "cay.test:3000";
    private static final String ORIGIN = "http://" + HOST;
    private static final String API = "/dashboard/api";

    /// A browser that is signed in, and the token of its pages.
    private record Browser(String cookie, String token) {}

    private static Map<String, String> headers(String... pairs) {
        var headers = new HashMap<>(Map.of("Host", HOST));
        for (int i = 0; i < pairs.length; i += 2) {
            headers.put(pairs[i], pairs[i + 1]);
        }
        return headers;
    }

    private TestServer.Answer signIn(String key, String... more) {
        var headers = headers("Origin", ORIGIN, "Content-Type", "application/json");
        headers.putAll(headers(more));
        return cay.request("POST", "/dashboard/session", headers, "{\"apiKey\": \"%s\"}".formatted(key));
    }

    private Browser browser(String key) {
        var answer = signIn(key);
        assertThat(answer.status()).as(answer.text()).isEqualTo(204);
        String cookie = Objects.requireNonNull(answer.header("Set-Cookie"));
        assertThat(cookie)
                .startsWith("cay_key=")
                .contains("HttpOnly")
                .contains("SameSite=Lax")
                .doesNotContain(key);
        return known(cookie.substring(0, cookie.indexOf(';')));
    }

    private Browser known(String cookie) {
        return new Browser(cookie, session(cookie).get("token").stringValue());
    }

    private JsonNode session(String cookie) {
        return cay.request("GET", "/dashboard/session", headers("Cookie", cookie))
                .json();
    }

    /// A call of a page of the dashboard.
    private TestServer.Answer call(Browser browser, String method, String path, String... more) {
        var headers = headers(
                "Cookie",
                browser.cookie(),
                "X-Cay-Dashboard",
                browser.token(),
                "Sec-Fetch-Site",
                "same-origin",
                "Origin",
                ORIGIN);
        headers.putAll(headers(more));
        return cay.request(method, API + path, headers, method.equals("GET") ? "" : "{}");
    }

    private String keyWith(String scope) {
        var made = cay.call("POST", "/api-keys", "{\"name\": \"other\", \"scope\": \"%s\"}".formatted(scope));
        assertThat(made.status()).as(made.text()).isEqualTo(201);
        return made.json().get("key").stringValue();
    }

    private String sandbox() {
        return cay.create("{\"templateID\": \"base\", \"secure\": true}")
                .get("sandboxID")
                .stringValue();
    }

    @Test
    void onePlainPageSaysThatTheFilesAreNotThereYet() {
        for (String path : new String[] {"/dashboard", "/dashboard/sandboxes/i1", "/dashboard/assets/x.js"}) {
            var page = cay.request("GET", path, headers());
            assertThat(page.status()).isEqualTo(503);
            assertThat(page.text()).contains("being built").contains("fetching packages");
            assertThat(page.header("Content-Security-Policy")).contains("frame-ancestors 'none'");
        }
        cay.dashboard = new NodeDashboard.State.Failed("npm <b>did</b> not answer");
        assertThat(cay.request("GET", "/dashboard", headers()).text())
                .contains("npm &lt;b&gt;did&lt;/b&gt; not answer");
    }

    @Test
    void filesAreServedCompressedAndForEverIfTheirNamesSaySo() throws Exception {
        var built = Files.createDirectories(directory.resolve("built/assets")).getParent();
        Files.writeString(built.resolve("index.html"), "<p>dashboard</p>");
        Files.writeString(built.resolve("assets/main-1a2b.js"), "let a = 1;".repeat(100));
        Files.writeString(directory.resolve("outside"), "secret of the host");
        Files.createSymbolicLink(built.resolve("assets/link.js"), directory.resolve("outside"));
        cay.dashboard = new NodeDashboard.State.Ready(built);

        var index = cay.request("GET", "/dashboard/sandboxes/any", headers());
        assertThat(index.text()).isEqualTo("<p>dashboard</p>");
        assertThat(index.header("Cache-Control")).isEqualTo("no-cache");
        assertThat(index.header("Content-Security-Policy"))
                .contains("default-src 'none'")
                .contains("script-src 'self';")
                .contains("frame-ancestors 'none'");
        var script = cay.request("GET", "/dashboard/assets/main-1a2b.js", headers("Accept-Encoding", "gzip"));
        assertThat(script.header("Content-Encoding")).isEqualTo("gzip");
        assertThat(script.header("Cache-Control")).contains("immutable");
        assertThat(script.header("Content-Type")).startsWith("text/javascript");
        for (String path : new String[] {"link.js", "none.js", "..%2F..%2Foutside"}) {
            assertThat(cay.request("GET", "/dashboard/assets/" + path, headers())
                            .status())
                    .as(path)
                    .isEqualTo(404);
        }
        assertThat(cay.request("POST", "/dashboard", headers()).status()).isEqualTo(405);
    }

    @Test
    void aBrowserSignsInWithAKeyAndOut() {
        assertThat(session("").get("signedIn").booleanValue()).isFalse();
        var browser = browser(cay.key);
        var session = session(browser.cookie());
        assertThat(session.get("name").stringValue()).isEqualTo("first key");
        assertThat(session.get("teams").get(0).get("scope").stringValue()).isEqualTo("all");
        String id = sandbox();
        assertThat(call(browser, "GET", "/v2/sandboxes").text()).contains(id);
        assertThat(call(browser, "DELETE", "/sandboxes/" + id).status()).isEqualTo(204);

        var out =
                cay.request("DELETE", "/dashboard/session", headers("Cookie", browser.cookie(), "Origin", ORIGIN), "");
        assertThat(out.status()).isEqualTo(204);
        assertThat(out.header("Set-Cookie")).startsWith("cay_key=;").contains("Max-Age=0");
    }

    @Test
    void anUnknownKeyDoesNotSignIn() {
        var refused = signIn("e2b_" + "0".repeat(40));
        assertThat(refused.status()).isEqualTo(401);
        assertThat(refused.header("Set-Cookie")).isNull();
        assertThat(refused.message()).contains("cay env");
        for (int i = 0; i < 20; i++) {
            refused = signIn("e2b_" + "0".repeat(40));
        }
        assertThat(refused.status()).isEqualTo(429);
        // Wrong attempts of others do not keep anybody out.
        assertThat(signIn(cay.key).status()).isEqualTo(204);
    }

    @Test
    void aSessionEndsWithItsTimeAndWithItsKey() {
        String key = keyWith("all");
        var browser = browser(key);
        var id = cay.call("GET", "/api-keys").json().values().stream()
                .filter(one -> one.get("name").stringValue().equals("other"))
                .findFirst()
                .orElseThrow()
                .get("id")
                .stringValue();
        assertThat(cay.call("DELETE", "/api-keys/" + id).status()).isEqualTo(204);
        assertThat(call(browser, "GET", "/v2/sandboxes").status()).isEqualTo(401);

        var other = browser(cay.key);
        cay.clock.pass(Duration.ofHours(12));
        assertThat(call(other, "GET", "/v2/sandboxes").status()).isEqualTo(401);
        assertThat(session(other.cookie()).get("signedIn").booleanValue()).isFalse();
    }

    /// Cookies are sent with what pages of sandboxes ask for, as these are of the same site.
    @ParameterizedTest
    @CsvSource({
        "Sec-Fetch-Site, same-site",
        "Sec-Fetch-Site, cross-site",
        "Sec-Fetch-Site, none",
        "Origin, https://8000-i1.cay.test:8443",
        "Origin, null",
        "X-Cay-Dashboard, wrong",
        "X-Cay-Dashboard, ''",
    })
    void aCallOfAnotherOriginIsRefused(String header, String value) {
        var browser = browser(cay.key);
        String id = sandbox();
        assertThat(call(browser, "DELETE", "/sandboxes/" + id, header, value).status())
                .isEqualTo(403);
        assertThat(call(browser, "GET", "/v2/sandboxes", header, value).status())
                .isEqualTo(403);
        assertThat(call(
                                browser,
                                "POST",
                                "/process.Process/List",
                                "E2b-Sandbox-Id",
                                id,
                                "E2b-Sandbox-Port",
                                "49983",
                                header,
                                value)
                        .status())
                .isEqualTo(403);
        assertThat(cay.call("GET", "/sandboxes/" + id).status()).isEqualTo(200);
        assertThat(cay.reached).hasValue(0);
    }

    @Test
    void aTokenIsGoodForItsBrowserAlone() {
        var one = browser(cay.key);
        var other = browser(cay.key);
        assertThat(call(new Browser(one.cookie(), other.token()), "GET", "/v2/sandboxes")
                        .status())
                .isEqualTo(403);
    }

    @ParameterizedTest
    @ValueSource(strings = {"same-site", "cross-site"})
    void pagesOfOthersNeitherReadTheSessionNorSignIn(String site) {
        var browser = browser(cay.key);
        assertThat(cay.request("GET", "/dashboard/session", headers("Cookie", browser.cookie(), "Sec-Fetch-Site", site))
                        .status())
                .isEqualTo(403);
        assertThat(signIn(cay.key, "Sec-Fetch-Site", site).status()).isEqualTo(403);
        assertThat(signIn(cay.key, "Origin", "https://8000-i1.cay.test:8443").status())
                .isEqualTo(403);
    }

    @Test
    void theCookieCountsBelowTheDashboardOnly() {
        var browser = browser(cay.key);
        var headers = headers("Cookie", browser.cookie(), "X-Cay-Dashboard", browser.token(), "Origin", ORIGIN);
        assertThat(cay.request("GET", "/v2/sandboxes", headers).status()).isEqualTo(401);
    }

    @Test
    void overHttpsTheCookieIsBoundToTheHost(@TempDir Path other) throws Exception {
        var people = new PersonAccess.Settings(URI.create("https://" + HOST), null, List.of());
        try (var secure = TestServer.forPeople(other, people)) {
            var answer = secure.request(
                    "POST",
                    "/dashboard/session",
                    headers("Origin", "https://" + HOST, "Content-Type", "application/json"),
                    "{\"apiKey\": \"%s\"}".formatted(secure.key));
            assertThat(answer.header("Set-Cookie"))
                    .startsWith("__Host-cay_key=")
                    .contains("; Path=/;")
                    .contains("; Secure")
                    .doesNotContain("Domain");
        }
    }

    @Test
    void callsReachTheSystemPortsOfTheTeamsOwnSandboxes() {
        var browser = browser(cay.key);
        String id = sandbox();
        String[] envd = {"E2b-Sandbox-Id", id, "E2b-Sandbox-Port", "49983", "X-Access-Token", "t"};
        var answer = call(browser, "POST", "/process.Process/List", envd);
        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
        assertThat(answer.json().get("port").intValue()).isEqualTo(49983);
        assertThat(answer.header("Content-Security-Policy")).startsWith("sandbox");
        assertThat(answer.header("X-Content-Type-Options")).isEqualTo("nosniff");

        assertThat(call(browser, "POST", "/", "E2b-Sandbox-Id", id, "E2b-Sandbox-Port", "8000")
                        .status())
                .isEqualTo(400);
        assertThat(call(browser, "POST", "/process.Process/List", "E2b-Sandbox-Id", id)
                        .status())
                .isEqualTo(400);
    }

    @Test
    void whoOpensASandboxThatIsNotPublicReachesItsCellsAndItsGateway() {
        var browser = browser(cay.key);
        String id = cay.create(
                        "{\"templateID\": \"base\", \"secure\": true, \"network\": {\"allowPublicTraffic\": false}}")
                .get("sandboxID")
                .stringValue();
        for (int port : new int[] {49999, 50005}) {
            var answer =
                    call(browser, "POST", "/execute", "E2b-Sandbox-Id", id, "E2b-Sandbox-Port", Integer.toString(port));
            assertThat(answer.status()).as(answer.text()).isEqualTo(200);
            assertThat(answer.json().get("port").intValue()).isEqualTo(port);
            assertThat(answer.json().get("withheld").toString()).contains("e2b-traffic-access-token");
            assertThat(answer.json().get("asked").stringValue())
                    .isEqualTo("%d-%s.%s".formatted(port, id, TestServer.DOMAIN));
            assertThat(answer.json().get("origin").stringValue()).isEqualTo("null");
        }
    }

    @Test
    void othersOpenNothing() {
        String id = sandbox();
        String[] envd = {"E2b-Sandbox-Id", id, "E2b-Sandbox-Port", "49983"};
        var reader = browser(keyWith("read"));
        assertThat(call(reader, "GET", "/sandboxes/" + id).text()).doesNotContain("envdAccessToken");
        assertThat(call(reader, "DELETE", "/sandboxes/" + id).status()).isEqualTo(403);
        assertThat(call(reader, "POST", "/process.Process/List", envd).status()).isEqualTo(404);

        String foreign = cay.keyOfAnotherTeam();
        var other = browser(foreign);
        assertThat(call(other, "GET", "/sandboxes/" + id).status()).isEqualTo(404);
        assertThat(call(other, "GET", "/v2/sandboxes").text()).isEqualTo("[]");
        assertThat(call(other, "POST", "/process.Process/List", envd).status()).isEqualTo(404);
        assertThat(call(browser(keyWith("sandbox:" + sandbox())), "POST", "/process.Process/List", envd)
                        .status())
                .isEqualTo(404);
        assertThat(cay.reached).hasValue(0);
        assertThat(call(browser(keyWith("sandbox:" + id)), "POST", "/process.Process/List", envd)
                        .status())
                .isEqualTo(200);
    }

    /// A page sends the token that it was given; what signs the browser in opens no files.
    @Test
    void filesOfAVolumeOpenToItsTokenAlone() {
        String id = cay.call("POST", "/volumes", "{\"name\": \"data\"}")
                .json()
                .get("volumeID")
                .stringValue();
        var browser = browser(cay.key);
        String token = token(browser, id);
        String file = "/volumecontent/%s/path?path=/none".formatted(id);
        assertThat(call(browser, "GET", file).status()).isEqualTo(401);
        assertThat(call(browser, "GET", file, "Authorization", token).status()).isEqualTo(404);
        assertThat(call(browser, "GET", file, "Authorization", token, "Sec-Fetch-Site", "same-site")
                        .status())
                .isEqualTo(403);
        var reader = browser(keyWith("read"));
        String reads = token(reader, id);
        assertThat(call(reader, "GET", file, "Authorization", reads).status()).isEqualTo(404);
        assertThat(call(reader, "DELETE", file, "Authorization", reads).status())
                .isEqualTo(403);
        // Elsewhere a page cannot say who it is.
        assertThat(call(reader, "DELETE", "/volumes/" + id, "Authorization", token)
                        .status())
                .isEqualTo(403);
    }

    private String token(Browser browser, String volume) {
        return "Bearer "
                + call(browser, "GET", "/volumes/" + volume).json().get("token").stringValue();
    }

    @Test
    void aPageBringsNoCredentialsOfItsOwn() {
        var reader = browser(keyWith("read"));
        String id = sandbox();
        assertThat(call(reader, "DELETE", "/sandboxes/" + id, "X-API-Key", cay.key)
                        .status())
                .isEqualTo(403);
        assertThat(call(reader, "GET", "/admin/teams", "X-Admin-Token", cay.adminToken)
                        .status())
                .isEqualTo(401);
    }

    @Test
    void theLinkOfTheCommandLineLeadsToTheSandbox() {
        var answer = cay.request("GET", "/dashboard/inspect/sandbox/i0123456789abcdefghij-cay", headers());
        assertThat(answer.status()).isEqualTo(303);
        assertThat(answer.header("Location")).isEqualTo("/dashboard/sandboxes/i0123456789abcdefghij");
        assertThat(cay.request("GET", "/dashboard/inspect/sandbox/%2F%2Fevil", headers())
                        .status())
                .isEqualTo(404);
    }

    @Test
    void sandboxesAreSentWhileTheyChange() throws Exception {
        String first = sandbox();
        try (var socket = cay.connect()) {
            socket.getOutputStream()
                    .write("GET /v2/sandboxes/live HTTP/1.1\r\nHost: %s\r\nX-API-Key: %s\r\n\r\n"
                            .formatted(HOST, cay.key)
                            .getBytes(StandardCharsets.US_ASCII));
            var lines = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
            assertThat(event(lines, "all")).contains(first);
            String second = sandbox();
            assertThat(event(lines, "change")).contains(second).doesNotContain(first);
            cay.call("DELETE", "/sandboxes/" + first);
            assertThat(event(lines, "change")).contains("\"gone\":[\"%s\"]".formatted(first));
        }
        assertThat(cay.request("GET", "/v2/sandboxes/live", headers()).status()).isEqualTo(401);
    }

    /// The data of the next event, which must have this name. The socket has a limit.
    private static String event(BufferedReader lines, String name) throws Exception {
        String line = lines.readLine();
        while (line != null && !line.startsWith("event: ")) {
            line = lines.readLine();
        }
        assertThat(line).isEqualTo("event: " + name);
        return lines.readLine();
    }
}
