package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.server.template.Origin;
import dev.cay.testing.Fast;
import dev.cay.wire.BuildId;
import dev.cay.wire.TemplateId;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;

/// Keys and templates.
@Fast
final class AccessTest extends ServerTest {
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
        cay.node.spares.put(new TemplateId(id), 3);
        var detail = cay.call("GET", "/templates/" + id).json();
        assertThat(detail.get("spares").intValue()).isEqualTo(3);
        assertThat(cay.call("GET", "/v2/templates").json().get(0).get("spares").intValue())
                .isEqualTo(3);
        assertThat(detail.get("builds").get(0).get("buildID")).isEqualTo(template.get("buildID"));
        assertThat(cay.call("GET", "/templates/aliases/base")
                        .json()
                        .get("templateID")
                        .stringValue())
                .isEqualTo(id);
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
        var changed =
                cay.server.templates().register("base", size, new Origin(java.util.List.of("new"), "user", null), null);
        assertThat(changed.id())
                .isEqualTo(new TemplateId(before.get("templateID").stringValue()));
        assertThat(changed.builds().getLast().id())
                .isNotEqualTo(new BuildId(before.get("buildID").stringValue()));
        assertThat(cay.call("GET", "/templates").json().size()).isEqualTo(1);
    }
}
