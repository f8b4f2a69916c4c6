package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// What is turned away before it reaches any sandbox: without a key, or not served.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Fast
final class RefusalTest {
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
    @CsvSource(delimiter = '|', textBlock = """
            X-API-Key     | e2b_0000000000000000000000000000000000000000        | not known
            X-API-Key     | e2b_12                                              | malformed
            X-API-Key     | nonsense                                            | malformed
            Authorization | Bearer e2b_0000000000000000000000000000000000000000 | not known
            Authorization | Bearer sk_e2b_00                                    | neither an API key
            Authorization | Basic dXNlcjo=                                      | Bearer
            User-Agent    | x                                                   | X-API-Key
            """)
    void saysWhatIsWrongWithAKey(String header, String value, String part) {
        var answer = cay.request("GET", "/v2/sandboxes", Map.of(header, value));
        assertThat(answer.status()).isEqualTo(401);
        assertThat(answer.json().get("code").intValue()).isEqualTo(401);
        assertThat(answer.message()).contains(part).contains("cay env");
    }

    @ParameterizedTest
    @CsvSource(delimiter = ' ', textBlock = """
            POST /templates/t
            POST /templates/t/builds/b
            """)
    void whatIsNotServedSaysSo(String method, String path) {
        var answer = cay.call(method, path);
        assertThat(answer.status()).isEqualTo(501);
        assertThat(answer.json().get("code").intValue()).isEqualTo(501);
        assertThat(answer.message()).contains("is not supported by this version of Cay");
        assertThat(cay.request(method, path, Map.of()).status()).isEqualTo(401);
    }

    @ParameterizedTest
    @CsvSource(delimiter = ' ', textBlock = """
            GET /clusters/c/rigs
            POST /clusters/c/rigs
            GET /clusters/c/rigs/r
            PATCH /clusters/c/rigs/r
            DELETE /clusters/c/rigs/r
            GET /nodes
            GET /nodes/n
            POST /nodes/n
            """)
    void whatIsTheOperatorsAndNotServedSaysSo(String method, String path) {
        assertThat(cay.admin(method, path, "").status()).isEqualTo(501);
        assertThat(cay.call(method, path).status()).isEqualTo(401);
    }

    /// As in E2B's cloud.
    @Test
    void accessTokensAreGone() {
        var refused = cay.call("POST", "/access-tokens", "{\"name\": \"old\"}");
        assertThat(refused.status()).isEqualTo(410);
        assertThat(refused.json().get("code").intValue()).isEqualTo(410);
        assertThat(refused.message()).contains("API key");
        assertThat(cay.call("DELETE", "/access-tokens/x").status()).isEqualTo(404);
        assertThat(cay.request("POST", "/access-tokens", Map.of()).status()).isEqualTo(401);
    }
}
