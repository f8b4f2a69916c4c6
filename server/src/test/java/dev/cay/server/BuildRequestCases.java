package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.wire.node.BuildPlan;
import dev.cay.wire.node.RegistryLogin;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// What a request for a build may say, and how the node hears of it.
interface BuildRequestCases extends BuildCalls {
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            {}                                       | Name is required
            {"name":""}                              | Name is required
            {"name":"Bad Name!"}                     | invalid template name
            {"name":"other/mine"}                    | default/mine
            {"name":"mine","cpuCount":3}             | cpuCount
            {"name":"mine","cpuCount":34}            | cpuCount
            {"name":"mine","memoryMB":127}           | memoryMB
            {"name":"mine","memoryMB":131072}        | memoryMB
            {"name":"mine","minFreeDiskMb":-1}       | minFreeDiskMb
            {"name":"mine","minFreeDiskMb":20481}    | may be at most 20480 on this machine
            {"name":"mine","tags":["a b"]}           | a tag has only
            """)
    default void badRequestsNameTheField(String body, String part) {
        var answer = cay().call("POST", "/v3/templates", body);
        assertThat(answer.status()).isEqualTo(400);
        assertThat(answer.message()).contains(part);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            {}                                                               | fromImage
            {"fromImage":"a","fromTemplate":"b"}                             | fromImage
            {"fromImage":"a","steps":[{"type":"BOIL"}]}                      | steps[0].type
            {"fromImage":"a","steps":[{"type":"RUN","args":[1]}]}            | steps[0].args
            {"fromImage":"a","steps":"x"}                                    | steps
            {"fromArchive":{"filesHash":"x"}}                                | fromArchive.filesHash
            {"fromArchive":{"image":"x"}}                                    | fromArchive.filesHash
            {"fromArchive":"x"}                                              | fromArchive
            {"fromArchive":{}}                                               | fromArchive
            """)
    default void badStepsNameTheField(String body, String part) {
        var requested = request("{\"name\":\"mine\"}");
        assertThat(begin(requested, body, 400).message()).contains(part);
    }

    @Test
    default void anImageArchiveIsPlannedByItsHash() throws Exception {
        var requested = request("{\"name\":\"mine\"}");
        begin(requested, "{\"fromArchive\":{\"filesHash\":\"%s\",\"image\":\"app:v1\"}}".formatted(HASH), 202);
        assertThat(cay().builds.await(build(requested)).plan().base())
                .isEqualTo(new BuildPlan.Base.Archive(HASH, "app:v1"));
    }

    @Test
    default void aDockerfileIsPlannedWithTheTemplatesItsImagesStandFor() throws Exception {
        var requested = request("{\"name\":\"mine\"}");
        begin(requested, """
                {"dockerfile":"ARG V\\nFROM e2bdev/base AS a\\nFROM alpine:$V\\nCOPY --from=a /x /y\\nCOPY z /z",
                 "dockerfileName":"my.Dockerfile","filesHash":"%s","buildArgs":{"V":"3.20"},"target":"1"}""".formatted(HASH), 202);
        var plan = cay().builds.await(build(requested)).plan();
        assertThat(plan.base()).isInstanceOfSatisfying(BuildPlan.Base.Dockerfile.class, base -> {
            assertThat(base.name()).isEqualTo("my.Dockerfile");
            assertThat(base.arguments()).containsEntry("V", "3.20");
            assertThat(base.images()).containsOnlyKeys("e2bdev/base");
            assertThat(base.filesHash()).isEqualTo(HASH);
            assertThat(base.target()).isEqualTo("1");
        });
        restart();
        cay().server.startBuilds();
        assertThat(cay().builds.await(build(requested)).plan()).isEqualTo(plan);
    }

    @Test
    default void loginsOfADockerfilesRegistriesReachTheNodeAndNoRecord() throws Exception {
        var requested = request("{\"name\":\"mine\"}");
        begin(requested, """
                {"dockerfile":"FROM registry.example:5000/app", "registryLogins":
                 [{"registry":"Registry.example:5000","type":"registry","username":"me","password":"hidden-word"}]}""", 202);
        var plan = cay().builds.await(build(requested)).plan();
        assertThat(plan.base())
                .isInstanceOfSatisfying(
                        BuildPlan.Base.Dockerfile.class,
                        base -> assertThat(base.logins())
                                .containsExactly(Map.entry(
                                        "registry.example:5000", new RegistryLogin.Password("me", "hidden-word"))));
        assertThat(plan.toString()).doesNotContain("hidden-word");
        try (var files = Files.walk(directory())) {
            for (var file : (Iterable<Path>) files.filter(Files::isRegularFile)::iterator) {
                assertThat(Files.readString(file, StandardCharsets.ISO_8859_1))
                        .as(file.toString())
                        .doesNotContain("hidden-word");
            }
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            {"dockerfile":"FROM a","fromImage":"b"}                       | exactly one of
            {"dockerfile":"RUN x"}                                        | Dockerfile:1:1: RUN before the first FROM
            {"dockerfile":"FROM a\\nCOPPY x y","dockerfileName":"my.df"}  | my.df:2:1:
            {"dockerfile":"FROM a","target":"b"}                          | there is no stage b
            {"dockerfile":"FROM a\\nCOPY x y"}                            | filesHash
            {"dockerfile":"FROM a","filesHash":"x"}                       | filesHash
            {"dockerfile":"FROM a","buildArgs":{"x":1}}                   | buildArgs.x
            {"dockerfile":"FROM a\\nRUN --mount=type=secret,id=x,required x"} | Dockerfile:2:1: secrets are not supported
            {"dockerfile":"FROM a\\nADD https://h/x.git /x"}              | Dockerfile:2:5: ADD of a Git repository
            {"dockerfile":"FROM a","fromImageRegistry":{"type":"gcp"}}    | registryLogins
            {"fromImage":"a","registryLogins":[{"registry":"h","type":"gcp","serviceAccountJson":"x"}]} | fromImageRegistry
            {"dockerfile":"FROM a","registryLogins":[{"type":"gcp"}]}     | registryLogins[0].registry
            {"dockerfile":"FROM a","registryLogins":[{"registry":"h"}]}   | registryLogins[0].type
            {"dockerfile":"FROM a","registryLogins":[{"registry":"h","type":"registry","username":"u"}]} | registryLogins[0].password
            """)
    default void badDockerfilesNameTheLine(String body, String part) {
        var requested = request("{\"name\":\"mine\"}");
        assertThat(begin(requested, body, 400).message()).contains(part);
    }
}
