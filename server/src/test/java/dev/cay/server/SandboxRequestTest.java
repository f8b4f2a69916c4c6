package dev.cay.server;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import dev.cay.wire.SandboxId;
import java.nio.file.Path;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// What is accepted and what is refused, and with which words. One server for all, as none of them minds the others.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Fast
final class SandboxRequestTest {
    private static final String MISSING = "i00000000000000000000";

    private TestServer cay;

    @BeforeAll
    void start(@TempDir Path directory) throws Exception {
        cay = TestServer.start(directory);
    }

    @AfterAll
    void stop() {
        cay.close();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
            {}                                                                     | 400 | templateID
            []                                                                     | 400 | JSON object
            {"templateID":7}                                                       | 400 | templateID
            {"templateID":"no/such/name"}                                          | 400 | invalid template name
            {"templateID":"nothing"}                                               | 404 | template 'nothing' not found
            {"templateID":"base:v7"}                                               | 404 | tag
            {"templateID":"base","timeout":0}                                      | 400 | Timeout must be greater than 0
            {"templateID":"base","timeout":-5}                                     | 400 | Timeout must be greater than 0
            {"templateID":"base","timeout":"5"}                                    | 400 | 'timeout' must be a whole number
            {"templateID":"base","timeout":86401}                                  | 400 | Timeout cannot be greater than 24 hours
            {"templateID":"base","metadata":{"a":1}}                               | 400 | metadata.a
            {"templateID":"base","envVars":{"A=B":"1"}}                            | 400 | A=B
            {"templateID":"base","envVars":{"A":"x\\u0000"}}                       | 400 | envVars.A
            {"templateID":"base","autoPauseMemory":false}                          | 400 | autoPauseMemory
            {"templateID":"base","autoPause":true,"autoPauseMemory":false,"autoResume":{"enabled":true}} | 400 | autoResume
            {"templateID":"base","autoPause":"yes"}                                | 400 | autoPause
            {"templateID":"base","autoResume":{"enabled":1}}                       | 400 | autoResume.enabled
            {"templateID":"base","iam":{"tokens":{"a":{}}}}                        | 400 | 'iam.tokens.a.audience'
            {"templateID":"base","iam":{"tokens":{"a":{"audience":"x","tokenType":"JWT"}}}} | 400 | JWT-SVID
            {"templateID":"base","iam":{"tokens":{"{":{"audience":"x","tokenType":"JWT-SVID"}}}} | 400 | 'iam.tokens'
            {"templateID":"base","iam":{"tokens":{"a":{},"b":{},"c":{},"d":{},"e":{},"f":{}}}} | 400 | iam.tokens: too many tokens: 6 (max 5)
            {"templateID":"base","volumeMounts":[{"name":"a","path":"/a"}]}        | 400 | Volume 'a' not found
            {"templateID":"base","volumeMounts":{"a":"/a"}}                        | 400 | 'volumeMounts' must be a list of objects
            {"templateID":"base","volumeMounts":[{"path":"/a"}]}                   | 400 | 'volumeMounts[0].name' is required
            {"templateID":"base","volumeMounts":[{"name":"a"}]}                    | 400 | 'volumeMounts[0].path' is required
            {"templateID":"base","volumeMounts":[{"name":"a","path":"a"}]}         | 400 | 'volumeMounts[0].path' must be an absolute path
            {"templateID":"base","volumeMounts":[{"name":"a","path":"/"}]}         | 400 | 'volumeMounts[0].path' must be an absolute path
            {"templateID":"base","volumeMounts":[{"name":"a","path":"/a/../b"}]}   | 400 | 'volumeMounts[0].path' must be an absolute path
            {"templateID":"base","volumeMounts":[{"name":"a","path":"/a//b"}]}     | 400 | 'volumeMounts[0].path' must be an absolute path
            {"templateID":"base","volumeMounts":[{"name":"a","path":"/a/"}]}       | 400 | 'volumeMounts[0].path' must be an absolute path
            {"templateID":"base","volumeMounts":[{"name":"a","path":"/proc/x"}]}   | 400 | nothing can be mounted at or below
            {"templateID":"base","volumeMounts":[{"name":"a","path":"/etc"}]}      | 400 | nothing can be mounted at or below
            {"templateID":"base","volumeMounts":[{"name":"a","path":"/run/x"}]}    | 400 | nothing can be mounted at or below
            {"templateID":"base","volumeMounts":[{"name":"a","path":"/a"},{"name":"b","path":"/a"}]}   | 400 | no path may be another one
            {"templateID":"base","volumeMounts":[{"name":"a","path":"/a/b"},{"name":"b","path":"/a"}]} | 400 | /a and /a/b
            {"templateID":"base","network":{"httpsPorts":[0]}}                     | 400 | network.httpsPorts
            {"templateID":"base","network":{"httpsPorts":[65536]}}                 | 400 | network.httpsPorts
            {"templateID":"base","network":{"httpsPorts":[49983]}}                 | 400 | network.httpsPorts
            {"templateID":"base","network":{"httpsPorts":[5,5]}}                   | 400 | twice
            {"templateID":"base","network":{"httpsPorts":["5"]}}                   | 400 | network.httpsPorts
            {"templateID":"base","network":{"allowOut":"1.1.1.1"}}                 | 400 | network.allowOut
            {"templateID":"base","network":{"allowOut":["1.1.1"]}}                 | 400 | invalid allowed address 1.1.1
            {"templateID":"base","network":{"allowOut":["1.1.1.256"]}}             | 400 | invalid allowed address 1.1.1.256
            {"templateID":"base","network":{"allowOut":["1.1.1.1/33"]}}            | 400 | invalid allowed address 1.1.1.1/33
            {"templateID":"base","network":{"allowOut":["0.0.0.0"]}}               | 400 | invalid allowed address 0.0.0.0
            {"templateID":"base","network":{"allowOut":["0.0.0.0/8"]}}             | 400 | invalid allowed address 0.0.0.0/8
            {"templateID":"base","network":{"allowOut":["::"]}}                    | 400 | invalid allowed address ::
            {"templateID":"base","network":{"allowOut":["a b"]}}                   | 400 | invalid allowed address a b
            {"templateID":"base","network":{"allowOut":["a.*.b"]}}                 | 400 | invalid allowed address a.*.b
            {"templateID":"base","network":{"allowOut":["1.1.1.1:0"]}}             | 400 | invalid allowed address 1.1.1.1:0
            {"templateID":"base","network":{"allowOut":["1.1.1.1 } ; x"]}}         | 400 | invalid allowed address 1.1.1.1 } ; x
            {"templateID":"base","network":{"allowOut":["example.org"]}}           | 400 | denyOut must contain 0.0.0.0/0
            {"templateID":"base","network":{"denyOut":["example.org"]}}            | 400 | invalid denied CIDR example.org
            {"templateID":"base","network":{"denyOut":["1.1.1.1:80"]}}             | 400 | invalid denied CIDR 1.1.1.1:80
            {"templateID":"base","network":{"denyOut":["::/0"]}}                   | 400 | invalid denied CIDR ::/0
            {"templateID":"base","network":{"rules":["a"]}}                        | 400 | network.rules
            {"templateID":"base","network":{"rules":{"a.b":{}}}}                   | 400 | network.rules.a.b
            {"templateID":"base","network":{"rules":{"*":[]}}}                     | 400 | Rule domain "*" is not a valid domain name.
            {"templateID":"base","network":{"rules":{"a..b":[]}}}                  | 400 | Rule domain "a..b" is not a valid domain name.
            {"templateID":"base","network":{"rules":{"1.1.1.1":[]}}}               | 400 | Rule domain "1.1.1.1" is not a valid domain name.
            {"templateID":"base","network":{"rules":{"a.b":[{},{}]}}}              | 400 | Domain "a.b" can have at most 1 transform rule.
            {"templateID":"base","network":{"rules":{"a.b":[{"transform":{"headers":{"A B":"1"}}}]}}}   | 400 | A B
            {"templateID":"base","network":{"rules":{"a.b":[{"transform":{"headers":{"Host":"c.d"}}}]}}} | 400 | Host
            {"templateID":"base","network":{"rules":{"a.b":[{"transform":{"headers":{"A":"1\\r\\nB: 2"}}}]}}} | 400 | no line ends
            {"templateID":"base","network":{"rules":{"a.b":[{"transform":{"headers":{"A":1}}}]}}}       | 400 | headers.A
            {"templateID":"base","network":{"rules":{"a.b":[{"transform":{"redirect":"http://x"}}]}}}   | 400 | redirect
            {"templateID":"base","network":{"rules":{"a.b":[{"transform":{"headers":{"A":"${e2b.secrets.}"}}}]}}} | 400 | Network transform header contains a malformed E2B placeholder.
            {"templateID":"base","network":{"rules":{"a.b":[{"transform":{"headers":{"A":"${e2b.other.x}"}}}]}}}  | 400 | Network transform header contains a malformed E2B placeholder.
            {"templateID":"base","network":{"rules":{"a.b":[{"transform":{"headers":{"A":"${e2b.secrets.k"}}}]}}} | 400 | Network transform header contains a malformed E2B placeholder.
            {"templateID":"base","network":{"egressProxy":{"address":"10.0.0.1:1"}}} | 400 | Invalid egress proxy config: 10.0.0.1 is not a public address
            {"templateID":"base","network":{"maskRequestHost":"a b"}}              | 400 | network.maskRequestHost
            {"templateID":                                                         | 400 | JSON
            """)
    void saysWhichFieldIsWrong(String body, int status, String part) {
        int calls = cay.node.calls.size();
        var answer = cay.call("POST", "/v2/sandboxes", body);
        assertThat(answer.status()).isEqualTo(status);
        assertThat(answer.json().get("code").intValue()).isEqualTo(status);
        assertThat(answer.message()).contains(part);
        assertThat(cay.node.calls).hasSize(calls);
    }

    @Test
    void limitsHowMuchRulesSay() {
        var domains = IntStream.range(0, 11).mapToObj("\"d%d.test\":[]"::formatted);
        assertRefused(
                "\"rules\":{%s}".formatted(domains.collect(joining(","))),
                "Network rules can have at most 10 domains.");
        var headers = IntStream.range(0, 21).mapToObj("\"H%d\":\"1\""::formatted);
        assertRefused(
                "\"rules\":{\"a.b\":[{\"transform\":{\"headers\":{%s}}}]}".formatted(headers.collect(joining(","))),
                "Domain \"a.b\" can have at most 20 headers per rule.");
        assertRefused(
                "\"rules\":{\"%s.b\":[]}".formatted("a.".repeat(64)),
                "Rule domain \"%s.b\" is not a valid domain name.".formatted("a.".repeat(64)));
        assertRefused(
                "\"rules\":{\"a.b\":[{\"transform\":{\"headers\":{\"A\":\"%s\"}}}]}".formatted("x".repeat(2049)),
                "at most 2048");
        var secrets = IntStream.range(0, 33).mapToObj("${e2b.secrets.k%d}"::formatted);
        assertRefused(
                "\"rules\":{\"a.b\":[{\"transform\":{\"headers\":{\"A\":\"%s\"}}}]}"
                        .formatted(secrets.collect(joining())),
                "Rule domain \"a.b\" references more than 32 secrets.");
        var entries = IntStream.range(0, 1001).mapToObj("\"1.2.%d.0/24\""::formatted);
        assertRefused("\"denyOut\":[%s]".formatted(entries.collect(joining(","))), "may have 1000");
        var ports = IntStream.range(1, 130).mapToObj(Integer::toString);
        assertRefused("\"httpsPorts\":[%s]".formatted(ports.collect(joining(","))), "may have 128");
    }

    private void assertRefused(String field, String message) {
        var answer = cay.call("POST", "/v2/sandboxes", "{\"templateID\":\"base\",\"network\":{%s}}".formatted(field));
        assertThat(answer.status()).as(answer.text()).isEqualTo(400);
        assertThat(answer.message()).contains(message);
    }

    @Test
    void acceptsWhatOnlySaysTheDefault() {
        cay.create("""
                {"templateID":"BASE:default","autoPause":false,"autoPauseMemory":true,"autoResume":{"enabled":false},
                 "volumeMounts":[],"iam":{},"mcp":{"github":{"token":"x"}},"unknown":1,"envVars":{},"metadata":{},
                 "network":{"allowOut":[],"denyOut":[],"egressProxy":null,"rules":{}}}
                """);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
            GET    | /sandboxes/ID                 |
            DELETE | /sandboxes/ID                 |
            POST   | /sandboxes/ID/connect         | {"timeout":5}
            POST   | /v2/sandboxes/ID/connect      | {}
            POST   | /sandboxes/ID/resume          | {}
            POST   | /sandboxes/ID/pause           |
            POST   | /sandboxes/ID/timeout         | {"timeout":5}
            POST   | /sandboxes/ID/refreshes       | {}
            PUT    | /sandboxes/ID/network         | {}
            GET    | /sandboxes/ID/metrics         |
            GET    | /sandboxes/ID/logs            |
            GET    | /v2/sandboxes/ID/logs         |
            """)
    void aMissingSandboxIs404InTheBodyToo(String method, String path, String body) {
        var answer = cay.call(method, path.replace("ID", MISSING), body == null ? "" : body);
        assertThat(answer.status()).isEqualTo(404);
        assertThat(answer.json().get("code").intValue()).isEqualTo(404);
        assertThat(answer.message())
                .isEqualTo("Sandbox \"" + MISSING + "\" doesn't exist or you don't have access to it");
        assertThat(cay.call(method, path.replace("ID", "a-b-c"), body == null ? "" : body)
                        .status())
                .isEqualTo(400);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
            /sandboxes/ID/connect    | {}                | 400
            /sandboxes/ID/connect    | {"timeout":-1}    | 400
            /sandboxes/ID/connect    | {"timeout":0}     | 200
            /sandboxes/ID/connect    | {"timeout":86401} | 400
            /v2/sandboxes/ID/connect | {"timeout":0}     | 400
            /v2/sandboxes/ID/connect | {"timeout":86401} | 400
            /v2/sandboxes/ID/connect | {"memory":false}  | 200
            /sandboxes/ID/timeout    | {}                | 400
            /sandboxes/ID/refreshes  | {"duration":3601} | 400
            /sandboxes/ID/refreshes  | {"duration":3600} | 204
            /sandboxes/ID/resume     | {}                | 409
            """)
    void checksTimes(String path, String body, int status) {
        var answer = cay.call("POST", path.replace("ID", cay.create()), body);
        assertThat(answer.status()).isEqualTo(status);
        if (status >= 400) {
            assertThat(answer.json().get("code").intValue()).isEqualTo(status);
        }
    }

    @ParameterizedTest
    @CsvSource({"0", "-3"})
    void noTimeoutEndsItAtOnce(int timeout) {
        String id = cay.create();
        assertThat(cay.call("POST", "/sandboxes/" + id + "/timeout", "{\"timeout\":" + timeout + "}")
                        .status())
                .isEqualTo(204);
        TestServer.await("its end", () -> !cay.node.running.containsKey(new SandboxId(id)));
        assertThat(cay.call("GET", "/sandboxes/" + id).status()).isEqualTo(404);
    }

    @Test
    void tellsTheSandboxItsTeamWhichNobodyCanChoose() {
        String id = cay.create("{\"templateID\":\"base\",\"envVars\":{\"E2B_TEAM_ID\":\"forged\",\"MINE\":\"1\"}}")
                .get("sandboxID")
                .stringValue();
        var event = cay.call("GET", "/events/sandboxes/" + id).json().get(0);
        assertThat(cay.node.running.get(new SandboxId(id)).environment())
                .containsEntry("E2B_TEAM_ID", event.get("sandboxTeamId").stringValue())
                .containsEntry("MINE", "1");
    }

    @Test
    void privateTrafficNeedsASecureSandbox() {
        String body = "{\"templateID\":\"base\",\"network\":{\"allowPublicTraffic\":false}}";
        assertThat(cay.call("POST", "/sandboxes", body).status()).isEqualTo(400);
        assertThat(cay.create(body).get("trafficAccessToken").stringValue()).hasSize(64);
    }

    @Test
    void logsAreEmptyInTheRightShape() {
        String id = cay.create();
        var old = cay.call("GET", "/sandboxes/" + id + "/logs").json();
        assertThat(old.get("logs").isArray()).isTrue();
        assertThat(old.get("logEntries").isArray()).isTrue();
        assertThat(cay.call("GET", "/v2/sandboxes/" + id + "/logs")
                        .json()
                        .get("logs")
                        .isArray())
                .isTrue();
    }
}
