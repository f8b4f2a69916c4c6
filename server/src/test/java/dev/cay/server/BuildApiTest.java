package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Await;
import dev.cay.testing.Fast;
import dev.cay.wire.BuildId;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.BuildLine;
import dev.cay.wire.node.BuildPlan;
import dev.cay.wire.node.BuildResult;
import dev.cay.wire.node.LogLine.Level;
import dev.cay.wire.node.NodeTemplate;
import dev.cay.wire.node.RegistryLogin;
import dev.cay.wire.node.Resources;
import dev.cay.wire.node.StartCommand;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/// Builds of templates, as clients ask for them and follow them.
@Fast
final class BuildApiTest {
    private static final String HASH = "0123456789abcdef".repeat(4);

    @TempDir
    private Path directory = Path.of("unset");

    private TestServer cay;

    @BeforeEach
    void start() throws IOException {
        cay = TestServer.start(directory);
    }

    @AfterEach
    void stop() throws IOException {
        cay.close();
    }

    @Test
    void aBuildWaitsForItsStepsRunsAndGetsItsTags() throws Exception {
        var requested = request("{\"name\":\"mine:v1\",\"tags\":[\"stable\"],\"memoryMB\":256}");
        assertThat(requested.get("names").get(0).stringValue()).isEqualTo("default/mine");
        assertThat(requested.get("tags").toString()).isEqualTo("[\"v1\",\"stable\"]");
        assertThat(status(requested).get("status").stringValue()).isEqualTo("waiting");

        begin(requested, "{\"fromTemplate\":\"base\",\"steps\":[{\"type\":\"RUN\",\"args\":[\"true\"]}]}", 202);
        var plan = cay.builds.await(build(requested)).plan();
        assertThat(plan.base()).isInstanceOfSatisfying(BuildPlan.Base.Layers.class, base -> {
            assertThat(base.layers()).containsExactly("layer1", "layer0");
            assertThat(base.user()).isEqualTo("user");
        });
        assertThat(plan.resources().memoryMB()).isEqualTo(256);
        assertThat(status(requested).get("status").stringValue()).isEqualTo("building");
        assertThat(create("mine:v1").status()).isEqualTo(404);

        ready(requested, "top");
        assertThat(status(requested).get("status").stringValue()).isEqualTo("ready");
        assertThat(create("mine:stable").status()).isEqualTo(201);
        assertThat(create("mine").status()).as("nothing is called default").isEqualTo(404);
        var tags = cay.call("GET", "/templates/mine/tags").json();
        assertThat(tags.findValuesAsString("tag")).containsExactly("v1", "stable");
    }

    @Test
    void sandboxesHaveTheDiskSpaceThatTheBuildAskedForAndThatOfItsBaseAtLeast() throws Exception {
        var large = request("{\"name\":\"large\",\"minFreeDiskMb\":20480}");
        begin(large, "{\"fromTemplate\":\"base\"}", 202);
        assertThat(cay.builds.await(build(large)).plan().resources().diskSizeMB())
                .isEqualTo(20480);
        ready(large, "large");
        var onTop = request("{\"name\":\"top\",\"minFreeDiskMb\":0}");
        begin(onTop, "{\"fromTemplate\":\"large\"}", 202);
        assertThat(cay.builds.await(build(onTop)).plan().resources().diskSizeMB())
                .isEqualTo(20480);
        ready(onTop, "top");
        for (String name : List.of("large", "top")) {
            var id = new SandboxId(create(name).json().get("sandboxID").stringValue());
            assertThat(cay.node.running.get(id).resources().diskSizeMB())
                    .as(name)
                    .isEqualTo(20480);
        }
        var small = request("{\"name\":\"small\",\"minFreeDiskMb\":5}");
        begin(small, "{\"fromTemplate\":\"base\"}", 202);
        assertThat(cay.builds.await(build(small)).plan().resources().diskSizeMB())
                .as("a disk is never smaller than usual")
                .isEqualTo(10240);
    }

    @Test
    void aTemplateIsBuiltOnTheFilesOfASandboxThatWasSaved() throws Exception {
        String sandbox = create("base").json().get("sandboxID").stringValue();
        var saved = cay.call("POST", "/sandboxes/%s/snapshots".formatted(sandbox), "{\"name\":\"moment\"}");
        assertThat(saved.status()).isEqualTo(201);
        var unnamed = cay.call("POST", "/sandboxes/%s/snapshots".formatted(sandbox), "{}");
        for (var one : List.of(saved, unnamed)) {
            var requested = request("{\"name\":\"mine\"}");
            begin(
                    requested,
                    "{\"fromTemplate\":\"%s\"}"
                            .formatted(one.json().get("snapshotID").stringValue()),
                    202);
            assertThat(cay.builds.await(build(requested)).plan().base())
                    .isInstanceOfSatisfying(
                            BuildPlan.Base.Layers.class,
                            base -> assertThat(cay.node.snapshots).containsKey(base.snapshot()));
        }
        var requested = request("{\"name\":\"mine\"}");
        begin(requested, "{\"fromTemplate\":\"moment:nothing\"}", 202);
        Await.until(
                "the build fails",
                () -> status(requested).get("status").stringValue().equals("error"));
        assertThat(status(requested).get("reason").get("message").stringValue()).contains("has no such tag");
    }

    @Test
    void aSecondStartOfABuildIsRefused() throws Exception {
        var requested = request("{\"name\":\"mine\"}");
        begin(requested, "{\"fromTemplate\":\"base\"}", 202);
        var again = begin(requested, "{\"fromTemplate\":\"base\"}", 400);
        assertThat(again.message()).isEqualTo("build is not in waiting state");
    }

    @Test
    void aNewerBuildEndsThoseThatWouldGetItsTags() throws Exception {
        var unbegun = request("{\"name\":\"mine\"}");
        var first = request("{\"name\":\"mine\"}");
        assertThat(first.get("templateID")).isEqualTo(unbegun.get("templateID"));
        assertThat(status(unbegun).get("status").stringValue()).isEqualTo("error");
        begin(first, "{\"fromTemplate\":\"base\"}", 202);
        cay.builds.await(build(first));
        var other = request("{\"name\":\"mine:other\"}");
        begin(other, "{\"fromTemplate\":\"base\"}", 202);
        assertThat(status(first).get("status").stringValue()).isEqualTo("building");
        var second = request("{\"name\":\"mine\"}");
        begin(second, "{\"fromTemplate\":\"base\"}", 202);
        assertThat(status(first).get("status").stringValue()).isEqualTo("error");
        assertThat(status(first).get("reason").get("message").stringValue()).contains("newer build");
        ready(second, "second");
        ready(first, "late");
        var detail = cay.call("GET", "/templates/mine").json();
        assertThat(detail.get("builds").size()).isEqualTo(4);
        assertThat(cay.call("GET", "/templates/mine/tags").json().get(0).get("buildID"))
                .as("what was ended gets no tag")
                .isEqualTo(second.get("buildID"));
    }

    @Test
    void aFailedBuildSaysWhyAndLeavesWhatWasThere() throws Exception {
        var good = request("{\"name\":\"mine\"}");
        begin(good, "{\"fromTemplate\":\"base\"}", 202);
        ready(good, "good");
        var bad = request("{\"name\":\"mine\"}");
        begin(bad, "{\"fromTemplate\":\"base\",\"steps\":[{\"type\":\"RUN\",\"args\":[\"x\"]}]}", 202);
        cay.builds.await(build(bad)).watcher().failed("1", "it failed with exit status 1");
        assertThat(status(bad).get("reason").toString())
                .contains("\"step\":\"1\"")
                .contains("exit status 1");
        assertThat(create("mine").status()).isEqualTo(201);
    }

    @Test
    void linesOfTheLogKeepTheirNumbers() throws Exception {
        var requested = request("{\"name\":\"mine\"}");
        begin(requested, "{\"fromTemplate\":\"base\"}", 202);
        var watcher = cay.builds.await(build(requested)).watcher();
        for (int i = 0; i < 250; i++) {
            var level = i % 2 == 0 ? Level.INFO : Level.ERROR;
            watcher.said(new BuildLine(Instant.ofEpochMilli(1000 + i), level, "1", "line " + i));
        }
        assertThat(messages(requested, "logsOffset=0")).hasSize(100).first().isEqualTo("line 0");
        assertThat(messages(requested, "logsOffset=200")).hasSize(50).last().isEqualTo("line 249");
        assertThat(messages(requested, "logsOffset=250")).isEmpty();
        assertThat(messages(requested, "limit=3&logsOffset=10")).containsExactly("line 10", "line 11", "line 12");
        assertThat(messages(requested, "level=error&limit=2&logsOffset=1")).containsExactly("line 3", "line 5");
        cay.close();
        cay = TestServer.again(directory, cay);
        assertThat(messages(requested, "logsOffset=249")).containsExactly("line 249");
        var back = cay.call("GET", path(requested) + "/logs?direction=backward&limit=2&cursor=1100")
                .json();
        assertThat(back.findValuesAsString("message")).containsExactly("line 100", "line 99");
        var found = cay.call("GET", path(requested) + "/logs?search=line%2011&level=error&limit=3")
                .json();
        assertThat(found.findValuesAsString("message")).containsExactly("line 11", "line 111", "line 113");
        assertThat(cay.call("GET", path(requested) + "/logs?limit=0").json().get("logs"))
                .isEmpty();
        for (String wrong : List.of(
                "direction=up", "source=none", "limit=101", "cursor=x", "level=loud", "search=" + "a".repeat(257))) {
            assertThat(cay.call("GET", path(requested) + "/logs?" + wrong).status())
                    .as(wrong)
                    .isEqualTo(400);
        }
    }

    @Test
    void aBuildGoesOnAfterARestart() throws Exception {
        var requested = request("{\"name\":\"mine\"}");
        begin(requested, "{\"fromImage\":\"debian:12\",\"startCmd\":\"serve\",\"readyCmd\":\"probe\"}", 202);
        var before = cay.builds.await(build(requested)).plan();
        cay.close();
        cay = TestServer.again(directory, cay);
        cay.server.startBuilds();
        assertThat(cay.builds.await(build(requested)).plan()).isEqualTo(before);
        ready(requested, "top");
        assertThat(create("mine").status()).isEqualTo(201);
    }

    @Test
    void aLinkEndsWithTheKeyThatItWasGivenTo() throws Exception {
        String at =
                "/templates/" + request("{\"name\":\"mine\"}").get("templateID").stringValue() + "/files/";
        String url = cay.call("GET", at + HASH).json().get("url").stringValue();
        String path = url.substring(url.indexOf("/templates/"));
        var key = cay.call("POST", "/api-keys", "{\"name\":\"k\",\"scope\":\"templates\"}")
                .json();
        String given = cay.request(
                        "GET", at + HASH, Map.of("X-API-Key", key.get("key").stringValue()))
                .json()
                .get("url")
                .stringValue();
        given = given.substring(given.indexOf("/templates/"));
        assertThat(put(given, "an archive")).isEqualTo(200);
        assertThat(put(given.replaceFirst("holder=[^&]+", "holder=k-0"), "x"))
                .as("of another key")
                .isEqualTo(403);
        cay.call("DELETE", "/api-keys/" + key.get("id").stringValue());
        assertThat(put(given, "x")).as("its key was revoked").isEqualTo(401);
        assertThat(put(path, "x")).as("the control").isEqualTo(200);
    }

    @Test
    void filesAreSentByALinkThatNobodyCanMake() throws Exception {
        var requested = request("{\"name\":\"mine\"}");
        String at = "/templates/" + requested.get("templateID").stringValue() + "/files/";
        assertThat(cay.call("GET", at + "abc").status()).isEqualTo(400);
        var link = cay.call("GET", at + HASH);
        assertThat(link.status()).isEqualTo(201);
        assertThat(link.json().get("present").booleanValue()).isFalse();
        String url = link.json().get("url").stringValue();
        String path = url.substring(url.indexOf("/templates/"));
        assertThat(put(path, "an archive")).isEqualTo(200);
        var again = cay.call("GET", at + HASH).json();
        assertThat(again.get("present").booleanValue()).isTrue();
        assertThat(again.get("url").stringValue()).isNotEmpty();
        assertThat(put(path.replace(HASH, "f".repeat(64)), "x"))
                .as("for other files")
                .isEqualTo(403);
        assertThat(put(path.replaceFirst("until=\\d+", "until=99999999999"), "x"))
                .as("for a longer time")
                .isEqualTo(403);
        assertThat(put(path.replaceFirst("team=[^&]+", "team=another"), "x"))
                .as("for another team")
                .isEqualTo(403);
        assertThat(put(path, "x".repeat((1 << 20) + 1))).as("too large").isEqualTo(400);
        cay.clock.pass(Duration.ofMinutes(29));
        assertThat(put(path, "an archive")).isEqualTo(200);
        cay.clock.pass(Duration.ofMinutes(2));
        assertThat(put(path, "x")).as("too late").isEqualTo(403);
        String entries = "/admin/audit?action=template.upload";
        TestServer.await("all", () -> cay.admin("GET", entries, "").json().size() == 7);
        var audited = cay.admin("GET", entries, "");
        assertThat(audited.json().findValuesAsString("result"))
                .containsExactly("refused", "ok", "failed", "refused", "refused", "refused", "ok");
        var good = audited.json().get(6);
        assertThat(good.get("credential").stringValue()).isEqualTo("signed link");
        assertThat(good.get("team").stringValue()).isNotEmpty();
        assertThat(audited.text()).doesNotContain("signature", HASH);
    }

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
    void badRequestsNameTheField(String body, String part) {
        var answer = cay.call("POST", "/v3/templates", body);
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
    void badStepsNameTheField(String body, String part) {
        var requested = request("{\"name\":\"mine\"}");
        assertThat(begin(requested, body, 400).message()).contains(part);
    }

    @Test
    void anImageArchiveIsPlannedByItsHash() throws Exception {
        var requested = request("{\"name\":\"mine\"}");
        begin(requested, "{\"fromArchive\":{\"filesHash\":\"%s\",\"image\":\"app:v1\"}}".formatted(HASH), 202);
        assertThat(cay.builds.await(build(requested)).plan().base())
                .isEqualTo(new BuildPlan.Base.Archive(HASH, "app:v1"));
    }

    @Test
    void aTemplateIsSentAsAnImage() {
        var image = cay.call("GET", "/templates/base/image");
        assertThat(image.status()).isEqualTo(200);
        assertThat(image.text()).contains("name=base:latest", "layer1, layer0", "user=user");
        assertThat(cay.call("GET", "/templates/base/image?tag=none").status()).isEqualTo(404);
        assertThat(cay.call("GET", "/templates/nothing/image").status()).isEqualTo(404);
        var waiting = request("{\"name\":\"mine\"}");
        assertThat(cay.call(
                                "GET",
                                "/templates/%s/image"
                                        .formatted(waiting.get("templateID").stringValue()))
                        .status())
                .isEqualTo(404);
    }

    @Test
    void aDockerfileIsPlannedWithTheTemplatesItsImagesStandFor() throws Exception {
        var requested = request("{\"name\":\"mine\"}");
        begin(requested, """
                {"dockerfile":"ARG V\\nFROM e2bdev/base AS a\\nFROM alpine:$V\\nCOPY --from=a /x /y\\nCOPY z /z",
                 "dockerfileName":"my.Dockerfile","filesHash":"%s","buildArgs":{"V":"3.20"},"target":"1"}""".formatted(HASH), 202);
        var plan = cay.builds.await(build(requested)).plan();
        assertThat(plan.base()).isInstanceOfSatisfying(BuildPlan.Base.Dockerfile.class, base -> {
            assertThat(base.name()).isEqualTo("my.Dockerfile");
            assertThat(base.arguments()).containsEntry("V", "3.20");
            assertThat(base.images()).containsOnlyKeys("e2bdev/base");
            assertThat(base.filesHash()).isEqualTo(HASH);
            assertThat(base.target()).isEqualTo("1");
        });
        cay.close();
        cay = TestServer.again(directory, cay);
        cay.server.startBuilds();
        assertThat(cay.builds.await(build(requested)).plan()).isEqualTo(plan);
    }

    @Test
    void loginsOfADockerfilesRegistriesReachTheNodeAndNoRecord() throws Exception {
        var requested = request("{\"name\":\"mine\"}");
        begin(requested, """
                {"dockerfile":"FROM registry.example:5000/app", "registryLogins":
                 [{"registry":"Registry.example:5000","type":"registry","username":"me","password":"hidden-word"}]}""", 202);
        var plan = cay.builds.await(build(requested)).plan();
        assertThat(plan.base())
                .isInstanceOfSatisfying(
                        BuildPlan.Base.Dockerfile.class,
                        base -> assertThat(base.logins())
                                .containsExactly(Map.entry(
                                        "registry.example:5000", new RegistryLogin.Password("me", "hidden-word"))));
        assertThat(plan.toString()).doesNotContain("hidden-word");
        try (var files = Files.walk(directory)) {
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
    void badDockerfilesNameTheLine(String body, String part) {
        var requested = request("{\"name\":\"mine\"}");
        assertThat(begin(requested, body, 400).message()).contains(part);
    }

    /// Its base is made first, and the node does not know it yet.
    @Test
    void aBuildThatIsCancelledBeforeItBeganNeverBegins() throws Exception {
        cay.made.put("r", NodeTemplate.State.BUILDING, "43 %");
        cay.server.supply().start(new Resources(2, 512, 10240), List.of("r"), List.of());
        var waiting = request("{\"name\":\"mine\"}");
        begin(waiting, "{\"fromTemplate\":\"r\"}", 202);
        TestServer.await("it waits", () -> !messages(waiting, "").isEmpty());
        assertThat(cay.call("POST", path(waiting) + "/cancel").status()).isEqualTo(204);
        cay.made.put("r", NodeTemplate.State.READY, "", "runners", "tree");
        assertThat(cay.builds.begins(build(waiting), Duration.ofSeconds(4))).isFalse();
        assertThat(status(waiting).get("reason").get("message").stringValue()).contains("cancelled");
    }

    @Test
    void aBuildThatIsCancelledWhileItBeginsIsEnded() throws Exception {
        var requested = request("{\"name\":\"mine\"}");
        cay.builds.onBegin = _ -> assertThat(
                        cay.call("POST", path(requested) + "/cancel").status())
                .isEqualTo(204);
        begin(requested, "{\"fromTemplate\":\"base\"}", 202);
        cay.builds.await(build(requested));
        TestServer.await("the node ends it", () -> cay.builds.cancelled.contains(new BuildId(build(requested))));
        assertThat(status(requested).get("status").stringValue()).isEqualTo("error");
    }

    @Test
    void theOperatorCancelsAllBuildsOfATeam() throws Exception {
        var one = request("{\"name\":\"one\"}");
        var two = request("{\"name\":\"two\"}");
        begin(two, "{\"fromTemplate\":\"base\"}", 202);
        cay.builds.await(build(two));
        String team =
                cay.admin("GET", "/admin/teams", "").json().get(0).get("teamID").stringValue();
        String path = "/admin/teams/%s/builds/cancel".formatted(team);
        assertThat(cay.call("POST", path, "{}").status()).isEqualTo(401);
        assertThat(cay.admin("POST", path, "").json()).isEqualTo(cay.json("{\"cancelledCount\":2,\"failedCount\":0}"));
        assertThat(List.of(status(one), status(two)))
                .allMatch(status -> status.get("status").stringValue().equals("error"));
        assertThat(cay.admin("POST", path, "").json()).isEqualTo(cay.json("{\"cancelledCount\":0,\"failedCount\":0}"));
    }

    @Test
    void aTeamHasOnlySoManyBuildsUnderWay() {
        for (int i = 0; i < 3; i++) {
            request("{\"name\":\"mine%d\"}".formatted(i));
        }
        var more = cay.call("POST", "/v3/templates", "{\"name\":\"more\"}");
        assertThat(more.status()).isEqualTo(429);
        assertThat(more.message()).contains("builds of this team");
    }

    /// A client could ask for builds hour by hour and then begin them all.
    @Test
    void buildsThatWaitedLongCountWhenTheyBegin() throws Exception {
        var waiting = new ArrayList<JsonNode>();
        for (int i = 0; i < 4; i++) {
            waiting.add(request("{\"name\":\"mine%d\"}".formatted(i)));
            cay.clock.pass(Duration.ofMinutes(61));
        }
        for (int i = 0; i < 3; i++) {
            begin(waiting.get(i), "{\"fromTemplate\":\"base\"}", 202);
        }
        assertThat(begin(waiting.get(3), "{\"fromTemplate\":\"base\"}", 429).message())
                .contains("builds of this team");
        var newer = request("{\"name\":\"mine2\"}", 429);
        assertThat(newer.get("message").stringValue()).contains("builds of this team");
        ready(waiting.getFirst(), "top");
        begin(waiting.get(3), "{\"fromTemplate\":\"base\"}", 202);
    }

    /// What a build prints may hold secrets, and publishing a template does not publish that.
    @Test
    void onlyTheTeamThatBuiltAPublishedTemplateReadsWhatTheBuildSaid() throws Exception {
        var requested = request("{\"name\":\"mine\"}");
        begin(requested, "{\"fromTemplate\":\"base\"}", 202);
        cay.builds
                .await(build(requested))
                .watcher()
                .said(new BuildLine(Instant.EPOCH, Level.INFO, "1", "TOKEN=hidden"));
        ready(requested, "top");
        cay.call("PATCH", "/v2/templates/mine", "{\"public\":true}");
        String key = cay.keyOfAnotherTeam();
        var headers = Map.of("X-API-Key", key);
        String template = "/templates/" + requested.get("templateID").stringValue();
        assertThat(cay.request("GET", template, headers).status())
                .as("the template itself")
                .isEqualTo(200);
        for (String route : List.of("/status", "/status?level=info", "/logs")) {
            var answer = cay.request("GET", path(requested) + route, headers);
            assertThat(answer.status()).as(route).isEqualTo(403);
            assertThat(answer.text()).doesNotContain("hidden");
            assertThat(cay.call("GET", path(requested) + route).text()).contains("hidden");
        }
    }

    @Test
    void aTemplateIsPublishedAndDeletedWhenNobodyUsesIt() throws Exception {
        var requested = request("{\"name\":\"mine\"}");
        begin(requested, "{\"fromTemplate\":\"base\"}", 202);
        ready(requested, "top");
        assertThat(cay.call("PATCH", "/v2/templates/mine", "{\"public\":true}")
                        .json()
                        .toString())
                .isEqualTo("{\"names\":[\"default/mine\"]}");
        assertThat(cay.call("GET", "/templates/aliases/mine")
                        .json()
                        .get("public")
                        .booleanValue())
                .isTrue();
        String sandbox = create("mine").json().get("sandboxID").stringValue();
        var used = cay.call("DELETE", "/templates/mine");
        assertThat(used.status()).isEqualTo(400);
        assertThat(used.message()).contains("used by 1");
        cay.call("DELETE", "/sandboxes/" + sandbox);
        assertThat(cay.call("DELETE", "/templates/mine").status()).isEqualTo(204);
        assertThat(cay.call("GET", "/templates/mine").status()).isEqualTo(404);
        assertThat(cay.call("DELETE", "/templates/base").status()).isEqualTo(403);
    }

    @Test
    void whatWasSavedGoesWhenNoTagPointsAtItAnyMore() throws Exception {
        for (String saved : List.of("bone", "btwo", "bthree")) {
            var requested = request("{\"name\":\"mine\"}");
            begin(requested, "{\"fromTemplate\":\"base\",\"startCmd\":\"serve\"}", 202);
            ready(requested, saved, saved);
            if (saved.equals("bone")) {
                assertThat(cay.call("POST", "/templates/tags", "{\"target\":\"mine\",\"tags\":[\"kept\"]}")
                                .status())
                        .isEqualTo(201);
            }
        }
        assertThat(cay.node.deleted).containsExactly("btwo");
        cay.call("DELETE", "/templates/tags", "{\"name\":\"mine\",\"tags\":[\"kept\"]}");
        assertThat(cay.node.deleted).containsExactly("btwo", "bone");
        assertThat(cay.call("DELETE", "/templates/mine").status()).isEqualTo(204);
        assertThat(cay.node.deleted).containsExactly("btwo", "bone", "bthree");
    }

    @Test
    void onlyTheLastBuildsThatNobodyCanUseAreKept() throws Exception {
        for (int i = 0; i < 25; i++) {
            var requested = request("{\"name\":\"mine\"}");
            begin(requested, "{\"fromTemplate\":\"base\"}", 202);
            ready(requested, "layer" + i);
        }
        assertThat(cay.call("GET", "/templates/mine").json().get("builds").size())
                .isEqualTo(21);
        assertThat(create("mine").status()).isEqualTo(201);
    }

    @Test
    void olderClientsAskByAnOlderRoute() throws Exception {
        var answer = cay.call("POST", "/v2/templates", "{\"alias\":\"old\",\"cpuCount\":2,\"memoryMB\":1024}");
        assertThat(answer.status()).isEqualTo(202);
        assertThat(answer.json().propertyNames())
                .contains("templateID", "buildID", "diskSizeMB", "createdBy", "lastSpawnedAt", "envdVersion");
        begin(answer.json(), "{\"fromTemplate\":\"base\"}", 202);
        ready(answer.json(), "top");
        assertThat(create("old").status()).isEqualTo(201);
    }

    private int put(String path, String content) {
        return cay.request("PUT", path, Map.of(), content).status();
    }

    private JsonNode request(String body) {
        return request(body, 202);
    }

    private JsonNode request(String body, int status) {
        var answer = cay.call("POST", "/v3/templates", body);
        assertThat(answer.status()).isEqualTo(status);
        return answer.json();
    }

    private TestServer.Answer begin(JsonNode requested, String body, int status) {
        String path = "/v2/templates/%s/builds/%s"
                .formatted(requested.get("templateID").stringValue(), build(requested));
        var answer = cay.call("POST", path, body);
        assertThat(answer.status()).as(answer.toString()).isEqualTo(status);
        return answer;
    }

    private void ready(JsonNode requested, String layer) throws InterruptedException {
        ready(requested, layer, null);
    }

    private void ready(JsonNode requested, String layer, @Nullable String snapshot) throws InterruptedException {
        var begun = cay.builds.await(build(requested));
        begun.watcher()
                .ready(new BuildResult(
                        List.of(layer, "layer1", "layer0"),
                        "user",
                        null,
                        snapshot,
                        new StartCommand(null, null, "user", null, Map.of())));
    }

    private JsonNode status(JsonNode requested) {
        return cay.call("GET", path(requested) + "/status").json();
    }

    private List<String> messages(JsonNode requested, String query) {
        return cay.call("GET", path(requested) + "/status?" + query)
                .json()
                .get("logEntries")
                .valueStream()
                .map(line -> line.get("message").stringValue())
                .toList();
    }

    private static String path(JsonNode requested) {
        return "/templates/%s/builds/%s".formatted(requested.get("templateID").stringValue(), build(requested));
    }

    private static String build(JsonNode requested) {
        return requested.get("buildID").stringValue();
    }

    private TestServer.Answer create(String template) {
        return cay.call("POST", "/v2/sandboxes", "{\"templateID\":\"%s\"}".formatted(template));
    }
}
