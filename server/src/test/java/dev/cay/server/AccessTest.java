package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Keys, templates, and what is not served.
final class AccessTest {
    @TempDir
    Path directory;

    private TestServer cay;

    @BeforeEach
    void start() throws Exception {
        cay = TestServer.start(directory);
    }

    @AfterEach
    void stop() {
        cay.close();
    }

    @Test
    void theFirstStartMakesAKeyThatIsKeptOnlyHashed() throws Exception {
        assertThat(cay.key).matches("e2b_[0-9a-f]{40}");
        String another = cay.server.newKey("second");
        assertThat(cay.call("GET", "/teams", "", "X-API-Key", another).status()).isEqualTo(200);
        cay.close();
        for (String file : new String[] {"cay.db", "cay.db-wal"}) {
            if (Files.exists(directory.resolve(file))) {
                String content = Files.readString(directory.resolve(file), StandardCharsets.ISO_8859_1);
                assertThat(content).doesNotContain(cay.key.substring(4)).doesNotContain(another.substring(4));
            }
        }
        cay = TestServer.again(directory, cay);
        assertThat(cay.server.firstKey()).isEmpty();
        assertThat(cay.call("GET", "/teams", "", "X-API-Key", another).status()).isEqualTo(200);
    }

    @Test
    void theSecretIsItsOwnersOnly() throws Exception {
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(directory.resolve("secret"))))
                .isEqualTo("rw-------");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            X-API-Key     | e2b_0000000000000000000000000000000000000000        | not known
            X-API-Key     | e2b_12                                              | malformed
            X-API-Key     | nonsense                                            | malformed
            Authorization | Bearer e2b_0000000000000000000000000000000000000000 | not known
            Authorization | Bearer sk_e2b_00                                    | access tokens
            Authorization | Basic dXNlcjo=                                      | Bearer
            User-Agent    | x                                                   | X-API-Key
            """)
    void saysWhatIsWrongWithAKey(String header, String value, String part) {
        var answer = cay.request("GET", "/v2/sandboxes", Map.of(header, value));
        assertThat(answer.status()).isEqualTo(401);
        assertThat(answer.json().get("code").intValue()).isEqualTo(401);
        assertThat(answer.message()).contains(part).contains("cay env");
    }

    @Test
    void listsTheTeamWithAUsableKey() {
        var team = cay.call("GET", "/teams").json().get(0);
        assertThat(team.get("apiKey").stringValue()).isEqualTo(cay.key);
        assertThat(team.get("name").stringValue()).isEqualTo("default");
        assertThat(team.get("isDefault").booleanValue()).isTrue();
        assertThat(team.get("teamID").stringValue()).hasSize(36);
    }

    @Test
    void showsTemplatesWithEveryFieldPythonWants() {
        var template = cay.call("GET", "/templates").json().get(0);
        for (String field : ("templateID buildID cpuCount memoryMB diskSizeMB public aliases names createdAt updatedAt "
                        + "createdBy lastSpawnedAt spawnCount buildCount envdVersion buildStatus")
                .split(" ")) {
            assertThat(template.has(field)).as(field).isTrue();
        }
        assertThat(template.get("aliases").get(0).stringValue()).isEqualTo("base");
        assertThat(template.get("public").booleanValue()).isTrue();
        String id = template.get("templateID").stringValue();
        assertThat(cay.call("GET", "/v2/templates?limit=1").json().size()).isEqualTo(1);
        var detail = cay.call("GET", "/templates/" + id).json();
        assertThat(detail.get("builds").get(0).get("buildID")).isEqualTo(template.get("buildID"));
        assertThat(cay.call("GET", "/templates/aliases/base").json().get("templateID").stringValue()).isEqualTo(id);
        assertThat(cay.call("GET", "/templates/aliases/base%3Av2").status()).isEqualTo(404);
        assertThat(cay.call("GET", "/templates/aliases/nothing").status()).isEqualTo(404);
        assertThat(cay.call("GET", "/templates/aliases/team%2Fbase").status()).isEqualTo(404);
        assertThat(cay.call("GET", "/templates/no%20name").status()).isEqualTo(400);
        assertThat(cay.call("GET", "/templates?teamID=other").status()).isEqualTo(400);
    }

    @Test
    void registeringAgainKeepsTheIdAndChangesTheBuildOnlyWithTheContent() throws Exception {
        var before = cay.call("GET", "/templates").json().get(0);
        cay.close();
        cay = TestServer.again(directory, cay);
        assertThat(cay.call("GET", "/templates").json().get(0)).isEqualTo(before);
        var size = new dev.cay.wire.node.Resources(4, 1024, 10240);
        var changed = cay.server.templates().register("base", java.util.List.of("new"), size, "user", null);
        assertThat(changed.id()).isEqualTo(before.get("templateID").stringValue());
        assertThat(changed.buildId()).isNotEqualTo(before.get("buildID").stringValue());
        assertThat(cay.call("GET", "/templates").json().size()).isEqualTo(1);
    }

    @ParameterizedTest
    @CsvSource(delimiter = ' ', textBlock = """
            POST /sandboxes/i1/pause
            POST /sandboxes/i1/fork
            POST /sandboxes/i1/snapshots
            GET /snapshots
            POST /v3/templates
            POST /v2/templates/t/builds/b
            GET /templates/t/builds/b/status
            DELETE /templates/team%2Fname%3Atag
            PATCH /v2/templates/t
            POST /templates/tags
            DELETE /templates/tags
            GET /volumes
            PUT /volumecontent/v/file
            POST /secrets
            GET /events/webhooks
            GET /api-keys
            GET /nodes
            POST /admin/teams/t/sandboxes/kill
            """)
    void whatIsNotServedSaysSo(String method, String path) {
        var answer = cay.call(method, path);
        assertThat(answer.status()).isEqualTo(501);
        assertThat(answer.json().get("code").intValue()).isEqualTo(501);
        assertThat(answer.message()).contains("is not supported by this version of Cay");
        assertThat(cay.request(method, path, Map.of()).status()).isEqualTo(401);
    }
}
