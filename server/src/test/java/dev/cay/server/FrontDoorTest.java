package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import dev.cay.wire.SandboxId;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/// Which requests reach which side, in the order that matters.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Fast
final class FrontDoorTest {
    private static final String MISSING = "i00000000000000000000";

    private TestServer cay;
    private JsonNode sandbox;
    private String id;
    private String token;

    @BeforeAll
    void start(@TempDir Path directory) throws Exception {
        cay = TestServer.start(directory);
        sandbox = cay.create("{\"templateID\":\"base\"}");
        id = sandbox.get("sandboxID").stringValue();
        token = sandbox.get("envdAccessToken").stringValue();
    }

    @AfterAll
    void stop() {
        cay.close();
    }

    /// Headers: `K` a good key, `B` the same as bearer, `I`/`P` the sandbox headers (port 49999), `T` its token, `t`
    /// another token, `M` a missing sandbox's id. Wanted: the port reached, or `api`, or a status.
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            3000-ID.cay.test:8443      | /anything         | K    | 3000
            3000-ID.cay.test:8443      | /v2/sandboxes     | K    | 3000
            49983-ID.cay.test          | /health           |      | 49983
            49983-ID-6532622b.cay.test | /health           |      | 49983
            3000-ID.localhost:3000     | /                 |      | 3000
            3000-ID.example.org        | /                 | IP   | 3000
            3000-MISSING.cay.test      | /                 | K    | 502
            3000.cay.test              | /                 |      | 400
            x-ID.cay.test              | /                 |      | 400
            0-ID.cay.test              | /                 |      | 400
            65536-ID.cay.test          | /                 |      | 400
            3000-.cay.test             | /                 |      | 400
            127.0.0.1:3000             | /v2/sandboxes     | K    | api
            127.0.0.1:3000             | /v2/sandboxes     | B    | api
            api.cay.test               | /v2/sandboxes     | K    | api
            127.0.0.1:3000             | /v2/sandboxes     | KIP  | api
            127.0.0.1:3000             | /files            | KIP  | 49999
            127.0.0.1:3000             | /health           | IP   | 49999
            sandbox.cay.test           | /health           | IP   | 49999
            dashboard-api.cay.test     | /builds           | KIP  | 200
            dashboard-api.cay.test     | /sandboxes        | KIP  | 404
            127.0.0.1:3000             | /health           | I    | 400
            127.0.0.1:3000             | /health           | P    | 400
            127.0.0.1:3000             | /health           | MP   | 502
            127.0.0.1:3000             | /health           | T    | 49983
            127.0.0.1:3000             | /files            | T    | 49983
            127.0.0.1:3000             | /health           | t    | 502
            127.0.0.1:3000             | /health           | IPt  | 49999
            127.0.0.1:3000             | /health           |      | 204
            127.0.0.1:3000             | /v2/sandboxes     |      | 401
            127.0.0.1:3000             | /files            |      | 400
            127.0.0.1:3000             | /process.Process/Start | | 400
            127.0.0.1:3000             | /nowhere          | K    | 404
            10-server.example.org      | /health           |      | 204
            [::1]:3000                 | /v2/sandboxes     | K    | api
            """)
    void decides(String host, String path, String with, String wanted) {
        var headers = new HashMap<String, String>();
        headers.put("Host", host.replace("ID", id).replace("MISSING", MISSING));
        for (char sign : (with == null ? "" : with).toCharArray()) {
            switch (sign) {
                case 'K' -> headers.put("X-API-KEY", cay.key);
                case 'B' -> headers.put("Authorization", "Bearer " + cay.key);
                case 'I' -> headers.put("E2b-Sandbox-Id", id);
                case 'M' -> headers.put("E2b-Sandbox-Id", MISSING);
                case 'P' -> headers.put("E2b-Sandbox-Port", "49999");
                case 'T' -> headers.put("X-Access-Token", token);
                case 't' -> headers.put("X-Access-Token", "wrong");
                default -> throw new AssertionError(sign);
            }
        }
        var answer = cay.request("GET", path, headers);
        if (wanted.equals("api")) {
            assertThat(answer.status()).isEqualTo(200);
            assertThat(answer.json().isArray()).isTrue();
        } else if (wanted.length() == 3) {
            assertThat(answer.status()).isEqualTo(Integer.parseInt(wanted));
        } else {
            assertThat(answer.status()).isEqualTo(200);
            assertThat(answer.json().get("port").intValue()).isEqualTo(Integer.parseInt(wanted));
            assertThat(answer.json().get("sandbox").stringValue()).isEqualTo(id);
        }
        if (answer.status() == 502) {
            assertThat(answer.json().get("code").intValue()).isEqualTo(502);
            assertThat(answer.message()).isEqualTo("The sandbox was not found");
        }
    }

    /// Whoever sends these is no client yet: words, no JSON.
    @ParameterizedTest
    @CsvSource({
        "3000.cay.test, Invalid host",
        "nodash.cay.test, Invalid host",
        "3000-UPPER_.cay.test, Invalid sandbox ID",
        "3000-.cay.test, Invalid sandbox ID",
        "x-abc.cay.test, Invalid sandbox port",
        "0-abc.cay.test, Invalid sandbox port",
        "65536-abc.cay.test, Invalid sandbox port"
    })
    void saysWhatIsWrongWithAHostName(String host, String words) {
        var answer = cay.request("GET", "/", Map.of("Host", host));
        assertThat(answer.status()).isEqualTo(400);
        assertThat(answer.header("Content-Type")).startsWith("text/plain");
        assertThat(answer.text()).startsWith(words);
    }

    /// Python's client takes the integer in the body for the status, JavaScript's the status itself: both
    /// must be there.
    @Test
    void aSandboxThatIsGoneLooksTheSameToAllClients() {
        for (String path : new String[] {"/health", "/process.Process/List", "/files", "/"}) {
            var gone = cay.request("GET", path, Map.of("Host", "49983-" + MISSING + ".cay.test"));
            assertThat(gone.status()).isEqualTo(502);
            assertThat(gone.header("Content-Type")).startsWith("application/json");
            assertThat(gone.text())
                    .isEqualTo("{\"sandboxId\":\"%s\",\"message\":\"The sandbox was not found\",\"code\":502}"
                            .formatted(MISSING));
        }
        var half = cay.request("GET", "/health", Map.of("E2b-Sandbox-Id", id));
        assertThat(half.status()).isEqualTo(400);
        assertThat(half.message()).startsWith("missing header");
        var hidden = cay.request("POST", "/init", Map.of("Host", "49983-" + id + ".cay.test"));
        assertThat(hidden.status()).isEqualTo(404);
        assertThat(hidden.json().get("code").intValue()).isEqualTo(404);
        assertThat(hidden.json().get("path").stringValue()).isEqualTo("/init");
    }

    @Test
    void aSignedUrlFindsItsSandbox() throws Exception {
        String signed = "/files?path=hello.txt&username=user&signature=" + sign("hello.txt:read:user:" + token);
        assertThat(cay.request("GET", signed, Map.of()).json().get("port").intValue())
                .isEqualTo(49983);
        String limited = "/files?path=a%2Fb&signature_expiration=123&signature=" + sign("a/b:write::" + token + ":123");
        assertThat(cay.request("POST", limited, Map.of()).status()).isEqualTo(200);
        assertThat(cay.request("GET", limited, Map.of()).status()).isEqualTo(401);
        assertThat(cay.request("GET", "/files?signature=v1_x", Map.of()).status())
                .isEqualTo(401);
    }

    @Test
    void fromInsideOnlyHostNamesAreServed() throws Exception {
        var self = new SandboxId(id);
        var named = cay.requestFromInside(self, "/", Map.of("Host", "3000-" + id + ".cay.test:8443"));
        assertThat(named.json().get("port").intValue()).isEqualTo(3000);
        for (var headers : java.util.List.of(
                Map.of("X-API-KEY", cay.key),
                Map.of("Host", "api.cay.test", "X-API-KEY", cay.key),
                Map.of("E2b-Sandbox-Id", id, "E2b-Sandbox-Port", "49983"),
                Map.of("X-Access-Token", token))) {
            assertThat(cay.requestFromInside(self, "/v2/sandboxes", headers).status())
                    .isEqualTo(404);
        }
    }

    @Test
    void privateTrafficNeedsItsTokenExceptOnTheSystemPort() {
        var secret = cay.create("{\"templateID\":\"base\",\"network\":{\"allowPublicTraffic\":false}}");
        String host = secret.get("sandboxID").stringValue() + ".cay.test";
        assertThat(cay.request("GET", "/", Map.of("Host", "49983-" + host)).status())
                .isEqualTo(200);
        var refused = cay.request("GET", "/", Map.of("Host", "3000-" + host));
        assertThat(refused.status()).isEqualTo(403);
        assertThat(refused.message()).containsIgnoringCase("e2b-traffic-access-token");
        var wrong = Map.of("Host", "49999-" + host, "E2B-Traffic-Access-Token", "x");
        assertThat(cay.request("GET", "/", wrong).status()).isEqualTo(403);
        var right = Map.of(
                "Host",
                "49999-" + host,
                "E2B-Traffic-Access-Token",
                secret.get("trafficAccessToken").stringValue());
        assertThat(cay.request("GET", "/", right).status()).isEqualTo(200);
    }

    @ParameterizedTest
    @CsvSource({"/init", "//init/", "/%69nit", "/a/../freeze", "/./fsthaw", "/upgrade"})
    void internalRoutesAreHidden(String path) {
        var answer = cay.request("POST", path, Map.of("Host", "49983-" + id + ".cay.test"));
        assertThat(answer.status()).isIn(400, 404);
        var other = cay.request("POST", "/init", Map.of("Host", "3000-" + id + ".cay.test"));
        assertThat(other.status()).isEqualTo(200);
    }

    @Test
    void theMaskIsHandedOn() {
        var masked = cay.create("{\"templateID\":\"base\",\"network\":{\"maskRequestHost\":\"app.local:${PORT}\"}}");
        String host = masked.get("sandboxID").stringValue() + ".cay.test";
        assertThat(cay.request("GET", "/", Map.of("Host", "3000-" + host))
                        .json()
                        .get("host")
                        .stringValue())
                .isEqualTo("app.local:3000");
        assertThat(cay.request("GET", "/", Map.of("Host", "49983-" + host))
                        .json()
                        .get("host")
                        .stringValue())
                .isEqualTo("null");
    }

    @Test
    void ourCredentialsAreKeptFromServersInsideAndTheirOwnAreNot() {
        var secret = cay.create("{\"templateID\":\"base\",\"network\":{\"allowPublicTraffic\":false}}");
        String host = "3000-" + secret.get("sandboxID").stringValue() + ".cay.test";
        String traffic = secret.get("trafficAccessToken").stringValue();
        var ours = Map.of(
                "Host", host,
                "X-API-Key", cay.key,
                "Authorization", "Bearer " + cay.key,
                "X-Access-Token", token,
                "E2B-Traffic-Access-Token", traffic);
        assertThat(withheld(ours))
                .containsExactlyInAnyOrder("x-api-key", "authorization", "x-access-token", "e2b-traffic-access-token");
        var theirs = Map.of(
                "Host", "3000-" + id + ".cay.test",
                "X-API-Key", "e2b_" + "0".repeat(40),
                "Authorization", "Bearer of-their-own",
                "X-Access-Token", "of-their-own",
                "E2B-Traffic-Access-Token", traffic + "x");
        assertThat(withheld(theirs)).isEmpty();
    }

    @Test
    void ourCredentialsAreKeptFromCallsOfGrpcAndTheirOwnAreNot() {
        var call = Map.of("Host", "3000-" + id + ".cay.test", "Content-Type", "application/grpc");
        var ours = new HashMap<>(call);
        ours.putAll(Map.of("X-API-Key", cay.key, "X-Access-Token", token));
        assertThat(cay.request("POST", "/svc/Call", ours, "x")
                        .json()
                        .get("withheld")
                        .valueStream()
                        .map(JsonNode::stringValue))
                .containsExactlyInAnyOrder("x-api-key", "x-access-token");
        var theirs = new HashMap<>(call);
        theirs.putAll(Map.of("X-API-Key", "of-their-own", "X-Access-Token", "of-their-own"));
        assertThat(cay.request("POST", "/svc/Call", theirs, "x").json().get("withheld"))
                .isEmpty();
    }

    @Test
    void ourCredentialsAreKeptFromWebSocketsAndTheirOwnAreNot() throws Exception {
        var secret = cay.create("{\"templateID\":\"base\",\"network\":{\"allowPublicTraffic\":false}}");
        String traffic = secret.get("trafficAccessToken").stringValue();
        String ours = "X-API-Key: %s\r\nX-Access-Token: %s\r\nE2B-Traffic-Access-Token: %s"
                .formatted(cay.key, token, traffic);
        assertThat(upgrade(secret.get("sandboxID").stringValue(), ours))
                .contains("\"x-api-key\"", "\"x-access-token\"", "\"e2b-traffic-access-token\"");
        String theirs = "X-API-Key: of-their-own\r\nX-Access-Token: of-their-own\r\nE2B-Traffic-Access-Token: x";
        assertThat(upgrade(id, theirs)).contains("\"withheld\":[]");
    }

    /// What the sandbox answers to a browser that wants a WebSocket.
    private String upgrade(String sandbox, String headers) throws Exception {
        try (var socket = cay.connect()) {
            socket.getOutputStream().write("""
                    GET /socket HTTP/1.1\r
                    Host: 3000-%s.cay.test\r
                    Connection: Upgrade\r
                    Upgrade: websocket\r
                    Sec-WebSocket-Key: abc\r
                    %s\r
                    \r
                    """.formatted(sandbox, headers).getBytes(StandardCharsets.US_ASCII));
            var in = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
            int length = 0;
            for (String line = in.readLine(); !line.isEmpty(); line = in.readLine()) {
                length = line.toLowerCase(Locale.ROOT).startsWith("content-length:")
                        ? Integer.parseInt(line.substring(15).strip())
                        : length;
            }
            var body = new char[length];
            assertThat(in.read(body)).isEqualTo(length);
            return new String(body);
        }
    }

    private List<String> withheld(Map<String, String> headers) {
        var answer = cay.request("GET", "/", headers);
        assertThat(answer.status()).isEqualTo(200);
        return answer.json()
                .get("withheld")
                .valueStream()
                .map(JsonNode::stringValue)
                .toList();
    }

    @Test
    void browsersMayCallTheApi() {
        var asked = cay.request(
                "OPTIONS",
                "/v2/sandboxes",
                Map.of("Origin", "https://app.example", "Access-Control-Request-Headers", "x-api-key"));
        assertThat(asked.status()).isEqualTo(204);
        assertThat(asked.header("Access-Control-Allow-Origin")).isEqualTo("*");
        assertThat(asked.header("Access-Control-Allow-Headers")).isEqualTo("x-api-key");
        var refused = cay.request("GET", "/v2/sandboxes", Map.of("Origin", "https://app.example"));
        assertThat(refused.status()).isEqualTo(401);
        assertThat(refused.header("Access-Control-Allow-Origin")).isEqualTo("*");
    }

    @Test
    void signsLikeTheClients() throws Exception {
        assertThat(plain("hello.txt:read:user:0tQG31xiMp0IOQfaz9dcwi72L1CPo8e0"))
                .isEqualTo("v1_gUtH/s9YCJWgCizjfUxuWfhFE4QSydOWEIIvfLwDr6E");
    }

    private static String sign(String text) throws Exception {
        return URLEncoder.encode(plain(text), StandardCharsets.UTF_8);
    }

    private static String plain(String text) throws Exception {
        byte[] hash = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
        return "v1_" + Base64.getEncoder().withoutPadding().encodeToString(hash);
    }
}
