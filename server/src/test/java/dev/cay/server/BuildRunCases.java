package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Await;
import dev.cay.wire.BuildId;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.BuildPlan;
import dev.cay.wire.node.NodeTemplate;
import dev.cay.wire.node.Resources;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/// A build is asked for, runs, ends and gets its tags.
interface BuildRunCases extends BuildCalls {
    @Test
    default void aBuildWaitsForItsStepsRunsAndGetsItsTags() throws Exception {
        var requested = request("{\"name\":\"mine:v1\",\"tags\":[\"stable\"],\"memoryMB\":256}");
        assertThat(requested.get("names").get(0).stringValue()).isEqualTo("default/mine");
        assertThat(requested.get("tags").toString()).isEqualTo("[\"v1\",\"stable\"]");
        assertThat(status(requested).get("status").stringValue()).isEqualTo("waiting");

        begin(requested, "{\"fromTemplate\":\"base\",\"steps\":[{\"type\":\"RUN\",\"args\":[\"true\"]}]}", 202);
        var plan = cay().builds.await(build(requested)).plan();
        assertThat(plan.base()).isInstanceOfSatisfying(BuildPlan.Base.Layers.class, base -> {
            assertThat(base.layers()).containsExactly("layer1", "layer0");
            assertThat(base.user()).isEqualTo("user");
        });
        assertThat(plan.resources().memoryMB()).isEqualTo(256);
        assertThat(status(requested).get("status").stringValue()).isEqualTo("building");
        assertThat(sandbox("mine:v1").status()).isEqualTo(404);

        ready(requested, "top");
        assertThat(status(requested).get("status").stringValue()).isEqualTo("ready");
        assertThat(sandbox("mine:stable").status()).isEqualTo(201);
        assertThat(sandbox("mine").status()).as("nothing is called default").isEqualTo(404);
        var tags = cay().call("GET", "/templates/mine/tags").json();
        assertThat(tags.findValuesAsString("tag")).containsExactly("v1", "stable");
    }

    @Test
    default void sandboxesHaveTheDiskSpaceThatTheBuildAskedForAndThatOfItsBaseAtLeast() throws Exception {
        var large = request("{\"name\":\"large\",\"minFreeDiskMb\":20480}");
        begin(large, "{\"fromTemplate\":\"base\"}", 202);
        assertThat(cay().builds.await(build(large)).plan().resources().diskSizeMB())
                .isEqualTo(20480);
        ready(large, "large");
        var onTop = request("{\"name\":\"top\",\"minFreeDiskMb\":0}");
        begin(onTop, "{\"fromTemplate\":\"large\"}", 202);
        assertThat(cay().builds.await(build(onTop)).plan().resources().diskSizeMB())
                .isEqualTo(20480);
        ready(onTop, "top");
        for (String name : List.of("large", "top")) {
            var id = new SandboxId(sandbox(name).json().get("sandboxID").stringValue());
            assertThat(cay().node.running.get(id).resources().diskSizeMB())
                    .as(name)
                    .isEqualTo(20480);
        }
        var small = request("{\"name\":\"small\",\"minFreeDiskMb\":5}");
        begin(small, "{\"fromTemplate\":\"base\"}", 202);
        assertThat(cay().builds.await(build(small)).plan().resources().diskSizeMB())
                .as("a disk is never smaller than usual")
                .isEqualTo(10240);
    }

    @Test
    default void aTemplateIsBuiltOnTheFilesOfASandboxThatWasSaved() throws Exception {
        String sandbox = sandbox("base").json().get("sandboxID").stringValue();
        var saved = cay().call("POST", "/sandboxes/%s/snapshots".formatted(sandbox), "{\"name\":\"moment\"}");
        assertThat(saved.status()).isEqualTo(201);
        var unnamed = cay().call("POST", "/sandboxes/%s/snapshots".formatted(sandbox), "{}");
        for (var one : List.of(saved, unnamed)) {
            var requested = request("{\"name\":\"mine\"}");
            begin(
                    requested,
                    "{\"fromTemplate\":\"%s\"}"
                            .formatted(one.json().get("snapshotID").stringValue()),
                    202);
            assertThat(cay().builds.await(build(requested)).plan().base())
                    .isInstanceOfSatisfying(
                            BuildPlan.Base.Layers.class,
                            base -> assertThat(cay().node.snapshots).containsKey(base.snapshot()));
        }
        var requested = request("{\"name\":\"mine\"}");
        begin(requested, "{\"fromTemplate\":\"moment:nothing\"}", 202);
        Await.until(
                "the build fails",
                () -> status(requested).get("status").stringValue().equals("error"));
        assertThat(status(requested).get("reason").get("message").stringValue()).contains("has no such tag");
    }

    @Test
    default void aSecondStartOfABuildIsRefused() throws Exception {
        var requested = request("{\"name\":\"mine\"}");
        begin(requested, "{\"fromTemplate\":\"base\"}", 202);
        var again = begin(requested, "{\"fromTemplate\":\"base\"}", 400);
        assertThat(again.message()).isEqualTo("build is not in waiting state");
    }

    @Test
    default void aNewerBuildEndsThoseThatWouldGetItsTags() throws Exception {
        var unbegun = request("{\"name\":\"mine\"}");
        var first = request("{\"name\":\"mine\"}");
        assertThat(first.get("templateID")).isEqualTo(unbegun.get("templateID"));
        assertThat(status(unbegun).get("status").stringValue()).isEqualTo("error");
        begin(first, "{\"fromTemplate\":\"base\"}", 202);
        cay().builds.await(build(first));
        var other = request("{\"name\":\"mine:other\"}");
        begin(other, "{\"fromTemplate\":\"base\"}", 202);
        assertThat(status(first).get("status").stringValue()).isEqualTo("building");
        var second = request("{\"name\":\"mine\"}");
        begin(second, "{\"fromTemplate\":\"base\"}", 202);
        assertThat(status(first).get("status").stringValue()).isEqualTo("error");
        assertThat(status(first).get("reason").get("message").stringValue()).contains("newer build");
        ready(second, "second");
        ready(first, "late");
        var detail = cay().call("GET", "/templates/mine").json();
        assertThat(detail.get("builds").size()).isEqualTo(4);
        assertThat(cay().call("GET", "/templates/mine/tags").json().get(0).get("buildID"))
                .as("what was ended gets no tag")
                .isEqualTo(second.get("buildID"));
    }

    @Test
    default void aFailedBuildSaysWhyAndLeavesWhatWasThere() throws Exception {
        var good = request("{\"name\":\"mine\"}");
        begin(good, "{\"fromTemplate\":\"base\"}", 202);
        ready(good, "good");
        var bad = request("{\"name\":\"mine\"}");
        begin(bad, "{\"fromTemplate\":\"base\",\"steps\":[{\"type\":\"RUN\",\"args\":[\"x\"]}]}", 202);
        cay().builds.await(build(bad)).watcher().failed("1", "it failed with exit status 1");
        assertThat(status(bad).get("reason").toString())
                .contains("\"step\":\"1\"")
                .contains("exit status 1");
        assertThat(sandbox("mine").status()).isEqualTo(201);
    }

    @Test
    default void aBuildGoesOnAfterARestart() throws Exception {
        var requested = request("{\"name\":\"mine\"}");
        begin(requested, "{\"fromImage\":\"debian:12\",\"startCmd\":\"serve\",\"readyCmd\":\"probe\"}", 202);
        var before = cay().builds.await(build(requested)).plan();
        restart();
        cay().server.startBuilds();
        assertThat(cay().builds.await(build(requested)).plan()).isEqualTo(before);
        ready(requested, "top");
        assertThat(sandbox("mine").status()).isEqualTo(201);
    }

    /// Its base is made first, and the node does not know it yet.
    @Test
    default void aBuildThatIsCancelledBeforeItBeganNeverBegins() throws Exception {
        cay().made.put("r", NodeTemplate.State.BUILDING, "43 %");
        cay().server.supply().start(new Resources(2, 512, 10240), List.of("r"), List.of());
        var waiting = request("{\"name\":\"mine\"}");
        begin(waiting, "{\"fromTemplate\":\"r\"}", 202);
        TestServer.await("it waits", () -> !messages(waiting, "").isEmpty());
        assertThat(cay().call("POST", path(waiting) + "/cancel").status()).isEqualTo(204);
        cay().made.put("r", NodeTemplate.State.READY, "", "runners", "tree");
        assertThat(cay().builds.begins(build(waiting), Duration.ofSeconds(4))).isFalse();
        assertThat(status(waiting).get("reason").get("message").stringValue()).contains("cancelled");
    }

    @Test
    default void aBuildThatIsCancelledWhileItBeginsIsEnded() throws Exception {
        var requested = request("{\"name\":\"mine\"}");
        cay().builds.onBegin = _ -> assertThat(
                        cay().call("POST", path(requested) + "/cancel").status())
                .isEqualTo(204);
        begin(requested, "{\"fromTemplate\":\"base\"}", 202);
        cay().builds.await(build(requested));
        TestServer.await("the node ends it", () -> cay().builds.cancelled.contains(new BuildId(build(requested))));
        assertThat(status(requested).get("status").stringValue()).isEqualTo("error");
    }

    @Test
    default void theOperatorCancelsAllBuildsOfATeam() throws Exception {
        var one = request("{\"name\":\"one\"}");
        var two = request("{\"name\":\"two\"}");
        begin(two, "{\"fromTemplate\":\"base\"}", 202);
        cay().builds.await(build(two));
        String team = cay().admin("GET", "/admin/teams", "")
                .json()
                .get(0)
                .get("teamID")
                .stringValue();
        String path = "/admin/teams/%s/builds/cancel".formatted(team);
        assertThat(cay().call("POST", path, "{}").status()).isEqualTo(401);
        assertThat(cay().admin("POST", path, "").json())
                .isEqualTo(cay().json("{\"cancelledCount\":2,\"failedCount\":0}"));
        assertThat(List.of(status(one), status(two)))
                .allMatch(status -> status.get("status").stringValue().equals("error"));
        assertThat(cay().admin("POST", path, "").json())
                .isEqualTo(cay().json("{\"cancelledCount\":0,\"failedCount\":0}"));
    }

    @Test
    default void aTeamHasOnlySoManyBuildsUnderWay() {
        for (int i = 0; i < 3; i++) {
            request("{\"name\":\"mine%d\"}".formatted(i));
        }
        var more = cay().call("POST", "/v3/templates", "{\"name\":\"more\"}");
        assertThat(more.status()).isEqualTo(429);
        assertThat(more.message()).contains("builds of this team");
    }

    /// A client could ask for builds hour by hour and then begin them all.
    @Test
    default void buildsThatWaitedLongCountWhenTheyBegin() throws Exception {
        var waiting = new ArrayList<JsonNode>();
        for (int i = 0; i < 4; i++) {
            waiting.add(request("{\"name\":\"mine%d\"}".formatted(i)));
            cay().clock.pass(Duration.ofMinutes(61));
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

    @Test
    default void olderClientsAskByAnOlderRoute() throws Exception {
        var answer = cay().call("POST", "/v2/templates", "{\"alias\":\"old\",\"cpuCount\":2,\"memoryMB\":1024}");
        assertThat(answer.status()).isEqualTo(202);
        assertThat(answer.json().propertyNames())
                .contains("templateID", "buildID", "diskSizeMB", "createdBy", "lastSpawnedAt", "envdVersion");
        begin(answer.json(), "{\"fromTemplate\":\"base\"}", 202);
        ready(answer.json(), "top");
        assertThat(sandbox("old").status()).isEqualTo(201);
    }

    private JsonNode status(JsonNode requested) {
        return cay().call("GET", path(requested) + "/status").json();
    }
}
