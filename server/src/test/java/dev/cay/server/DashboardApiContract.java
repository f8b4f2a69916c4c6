package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.wire.SandboxId;
import dev.cay.wire.node.BuildResult;
import dev.cay.wire.node.StartCommand;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/// E2B's dashboard finds what it asks for, at the dashboard API's host and below its prefix.
abstract class DashboardApiContract extends ServerTest {
    private static final String BASE = "/dashboard-api";
    private static final String UNKNOWN = "00000000-0000-4000-8000-000000000000";

    private JsonNode get(String path) {
        var answer = cay.call("GET", BASE + path);
        assertThat(answer.status()).as(path + answer.text()).isEqualTo(200);
        return answer.json();
    }

    /// A build that is requested, a second after the one before.
    private JsonNode request(String name) {
        cay.clock.pass(Duration.ofSeconds(1));
        var answer = cay.call("POST", "/v3/templates", "{\"name\":\"%s\",\"memoryMB\":256}".formatted(name));
        assertThat(answer.status()).as(answer.text()).isEqualTo(202);
        return answer.json();
    }

    private static String id(JsonNode requested) {
        return requested.get("buildID").stringValue();
    }

    private void begin(JsonNode requested) {
        String path = "/v2/templates/%s/builds/%s"
                .formatted(requested.get("templateID").stringValue(), id(requested));
        assertThat(cay.call("POST", path, "{\"fromTemplate\":\"base\"}").status())
                .isEqualTo(202);
    }

    private JsonNode ready(String name) throws InterruptedException {
        var requested = request(name);
        begin(requested);
        cay.builds
                .await(id(requested))
                .watcher()
                .ready(new BuildResult(
                        List.of("top", "layer1", "layer0"),
                        "user",
                        null,
                        null,
                        new StartCommand(null, null, "user", null, Map.of())));
        return requested;
    }

    private JsonNode failed(String name) throws InterruptedException {
        var requested = request(name);
        begin(requested);
        cay.builds.await(id(requested)).watcher().failed("1", "no such package");
        return requested;
    }

    private String team() {
        return cay.call("GET", "/teams").json().get(0).get("teamID").stringValue();
    }

    private String foreignKey() {
        return cay.keyOfAnotherTeam();
    }

    private static List<String> ids(JsonNode list, String field) {
        return list.valueStream().map(one -> one.get(field).stringValue()).toList();
    }

    @Test
    void buildsAreListedWithStatusAndReason() throws Exception {
        var good = ready("good:v1");
        var bad = failed("bad");
        var open = request("open");
        var builds = get("/builds").get("data");
        // That of `base` comes with the test server, and is the oldest.
        assertThat(ids(builds, "id").subList(0, 3)).containsExactly(id(open), id(bad), id(good));
        assertThat(ids(builds, "status")).containsExactly("building", "failed", "success", "success");
        assertThat(ids(builds, "template")).containsExactly("open", "bad", "good", "base");
        assertThat(builds.get(1).get("statusMessage").stringValue()).contains("no such package");
        assertThat(builds.get(2).get("memoryMB").intValue()).isEqualTo(256);
        assertThat(builds.get(2).get("finishedAt").isString()).isTrue();
        assertThat(builds.get(0).get("finishedAt").isNull()).isTrue();

        assertThat(ids(get("/builds?statuses=failed,building").get("data"), "id"))
                .containsExactly(id(open), id(bad));
        String template = good.get("templateID").stringValue();
        for (String name : List.of(id(good), template, "good", "GOOD", "default%2Fgood")) {
            assertThat(ids(get("/builds?build_id_or_template=" + name).get("data"), "id"))
                    .as(name)
                    .containsExactly(id(good));
        }
        assertThat(get("/builds?build_id_or_template=no+such+name").get("data").isEmpty())
                .isTrue();
    }

    @Test
    void buildsComeInPagesThatNeitherRepeatNorHideOne() throws Exception {
        var wanted = new ArrayList<String>();
        for (int i = 0; i < 5; i++) {
            wanted.addFirst(id(ready("t" + i)));
        }
        var found = new ArrayList<String>();
        String cursor = "";
        do {
            var page = get("/builds?limit=2&cursor=" + cursor);
            found.addAll(ids(page.get("data"), "id"));
            cursor = page.get("nextCursor").asString("");
            if (found.size() == 2) {
                // What is added meanwhile belongs before the first page.
                request("new");
            }
        } while (!cursor.isEmpty());
        assertThat(found.subList(0, 5)).isEqualTo(wanted);
        assertThat(found).hasSize(6);
    }

    @Test
    void statusesAreToldOfTheTeamsOwnBuildsAlone() throws Exception {
        var good = ready("good");
        var bad = failed("bad");
        String ids = String.join(",", id(good), id(bad), UNKNOWN);
        var states = get("/builds/statuses?build_ids=" + ids).get("buildStatuses");
        assertThat(ids(states, "id")).containsExactlyInAnyOrder(id(good), id(bad));
        assertThat(ids(states, "status")).containsExactlyInAnyOrder("success", "failed");
        var foreign = cay.request("GET", BASE + "/builds/statuses?build_ids=" + ids, Map.of("X-API-Key", foreignKey()));
        assertThat(foreign.json().get("buildStatuses").isEmpty()).isTrue();
    }

    @Test
    void aBuildIsShownToItsTeamAlone() throws Exception {
        var bad = failed("bad");
        var shown = get("/builds/" + id(bad));
        assertThat(shown.get("names").get(0).stringValue()).isEqualTo("default/bad");
        assertThat(shown.get("status").stringValue()).isEqualTo("failed");
        assertThat(shown.get("statusMessage").stringValue()).contains("no such package");
        assertThat(cay.call("GET", BASE + "/builds/" + UNKNOWN).status()).isEqualTo(404);
        var foreign = cay.request("GET", BASE + "/builds/" + id(bad), Map.of("X-API-Key", foreignKey()));
        assertThat(foreign.status()).isEqualTo(404);
        assertThat(foreign.message()).contains("has no build");
    }

    @Test
    void templatesAreThoseOfTheTeamAndThoseThatComeWithCay() throws Exception {
        ready("one");
        ready("two");
        assertThat(cay.call("PATCH", "/v2/templates/two", "{\"public\": true}").status())
                .isEqualTo(200);
        var all = get("/templates").get("data");
        assertThat(all.findValuesAsString("isDefault")).containsExactly("false", "false", "true");
        assertThat(all.get(0).get("names").get(0).stringValue()).isEqualTo("default/two");
        assertThat(all.get(0).get("createdBy").isNull()).isTrue();
        assertThat(all.get(0).get("lastSpawnedAt").isNull()).isTrue();
        assertThat(names("?sort=created_at_asc")).containsExactly("base", "default/one", "default/two");
        assertThat(names("?sort=updated_at_desc")).first().isEqualTo("default/two");
        assertThat(names("?public=false")).containsExactly("default/one");
        assertThat(names("?public=true")).containsExactly("default/two", "base");
        assertThat(names("?search=ON")).containsExactly("default/one");
        cay.create("{\"templateID\":\"one\"}");
        assertThat(get("/templates?search=one")
                        .get("data")
                        .get(0)
                        .get("spawnCount")
                        .intValue())
                .isEqualTo(1);

        var others = cay.request("GET", BASE + "/templates", Map.of("X-API-Key", foreignKey()));
        assertThat(ids(others.json().get("data"), "templateID")).hasSize(1);
        var page = get("/templates?limit=2");
        var rest = get("/templates?limit=2&cursor=" + page.get("nextCursor").stringValue());
        assertThat(rest.get("data").get(0).get("names").get(0).stringValue()).isEqualTo("base");
        assertThat(rest.get("nextCursor").isNull()).isTrue();
        var turned = cay.call(
                "GET",
                BASE + "/templates?sort=created_at_asc&cursor="
                        + page.get("nextCursor").stringValue());
        assertThat(turned.status()).isEqualTo(400);
        assertThat(turned.message()).contains("'cursor'", "the same order");
    }

    private List<String> names(String query) {
        return get("/templates" + query)
                .get("data")
                .valueStream()
                .map(template -> template.get("names").get(0).stringValue())
                .toList();
    }

    @Test
    void templatesThatComeWithCayHaveAListOfTheirOwn() {
        var templates = get("/templates/defaults").get("templates");
        assertThat(templates.size()).isEqualTo(1);
        var base = templates.get(0);
        assertThat(base.at("/aliases/0/alias").stringValue()).isEqualTo("base");
        assertThat(base.at("/aliases/0/namespace").isNull()).isTrue();
        assertThat(base.get("vcpu").intValue()).isEqualTo(2);
        assertThat(base.get("ramMb").intValue()).isEqualTo(512);
        assertThat(base.get("totalDiskSizeMb").intValue()).isEqualTo(10240);
        assertThat(base.get("buildId").stringValue())
                .isEqualTo(get("/templates/base").get("buildID").stringValue());
    }

    @Test
    void aTemplateHasNoNumbersUntilItIsReady() throws Exception {
        request("coming");
        var coming = get("/templates/coming");
        assertThat(coming.get("cpuCount").isNull()).isTrue();
        assertThat(coming.get("envdVersion").isNull()).isTrue();
        assertThat(coming.get("buildID").stringValue()).isEqualTo("00000000-0000-0000-0000-000000000000");
        var good = ready("coming");
        assertThat(get("/templates/coming").get("buildID").stringValue()).isEqualTo(id(good));
        assertThat(get("/templates/coming").get("memoryMB").intValue()).isEqualTo(256);
        assertThat(cay.call("GET", BASE + "/templates/nothing").status()).isEqualTo(404);
        var foreign = Map.of("X-API-Key", foreignKey());
        String path = "/templates/" + good.get("templateID").stringValue();
        for (String below : List.of("", "/tags/groups", "/tags/count", "/tags/exists?tag=x", "/tags/x/assignments")) {
            assertThat(cay.request("GET", BASE + path + below, foreign).status())
                    .as(below)
                    .isEqualTo(403);
        }
    }

    @Test
    void tagsOfBuildsThatAreReadyAreGroupedCountedAndFound() throws Exception {
        var first = ready("mine:v1");
        cay.clock.pass(Duration.ofSeconds(1));
        assertThat(cay.call("POST", "/templates/tags", "{\"target\":\"mine:v1\",\"tags\":[\"stable\"]}")
                        .status())
                .isEqualTo(201);
        var second = ready("mine:v2");
        failed("mine:broken");
        assertThat(get("/templates/mine/tags/count").get("total").intValue()).isEqualTo(3);
        var groups = get("/templates/mine/tags/groups").get("tags");
        assertThat(ids(groups, "tag")).containsExactly("v2", "stable", "v1");
        var newest = groups.get(0).get("assignments").get(0);
        assertThat(newest.get("buildId").stringValue()).isEqualTo(id(second));
        assertThat(newest.get("buildFinishedAt").isString()).isTrue();
        assertThat(groups.get(0).get("hasMore").booleanValue()).isFalse();
        assertThat(tags("?sort=name_asc")).containsExactly("stable", "v1", "v2");
        assertThat(tags("?sort=latest_asc")).containsExactly("v1", "stable", "v2");
        assertThat(tags("?search=V")).containsExactly("v2", "v1");
        var page = get("/templates/mine/tags/groups?tagsLimit=2");
        String cursor = page.get("nextCursor").stringValue();
        assertThat(tags("?tagsLimit=2&tagsCursor=" + cursor)).containsExactly("v1");

        var exists = get("/templates/mine/tags/exists?tag=STABLE");
        assertThat(exists.get("exists").booleanValue()).isTrue();
        assertThat(exists.get("normalizedTag").stringValue()).isEqualTo("stable");
        assertThat(get("/templates/mine/tags/exists?tag=broken").get("exists").booleanValue())
                .isFalse();
        var of = get("/templates/mine/tags/stable/assignments").get("data");
        assertThat(ids(of, "buildId")).containsExactly(id(first));
        assertThat(get("/templates/mine/tags/stable/assignments").get("data")).isEqualTo(of);
        assertThat(get("/templates/mine/tags/none/assignments").get("data").isEmpty())
                .isTrue();
    }

    private List<String> tags(String query) {
        return ids(get("/templates/mine/tags/groups" + query).get("tags"), "tag");
    }

    @Test
    void limitsAndStatusAreTheTeamsOwn() {
        var before = get("/teams/%s/limits".formatted(team()));
        assertThat(before.get("tier").stringValue()).isEqualTo("none");
        var none = before.get("limits");
        assertThat(none.get("concurrentSandboxes").intValue()).isEqualTo(Integer.MAX_VALUE);
        assertThat(none.get("concurrentTemplateBuilds").intValue()).isEqualTo(3);
        assertThat(none.get("maxLengthHours").intValue()).isEqualTo(24);
        assertThat(none.get("maxRamMb").intValue()).isEqualTo(8192);
        assertThat(none.get("eventsTtlDays").intValue()).isEqualTo(7);
        String limits = "/admin/teams/%s/limits".formatted(team());
        assertThat(cay.admin("PUT", limits, "{\"profile\":\"hobby\"}").status()).isEqualTo(200);
        var hobby = get("/teams/%s/limits".formatted(team()));
        assertThat(hobby.get("tier").stringValue()).isEqualTo("hobby");
        assertThat(hobby.at("/limits/concurrentSandboxes").intValue()).isEqualTo(20);
        assertThat(cay.admin("PUT", limits, "{\"memoryMB\":1024}").status()).isEqualTo(200);
        var own = get("/teams/%s/limits".formatted(team()));
        assertThat(own.get("tier").stringValue()).isEqualTo("custom");
        assertThat(own.at("/limits/maxRamMb").intValue()).isEqualTo(1024);

        assertThat(get("/teams/%s/status".formatted(team())).toString())
                .isEqualTo("{\"isBlocked\":false,\"isBanned\":false,\"blockedReason\":null}");
        var foreign = Map.of("X-API-Key", foreignKey());
        for (String what : List.of("limits", "status")) {
            var refused = cay.request("GET", BASE + "/teams/%s/%s".formatted(team(), what), foreign);
            assertThat(refused.status()).isEqualTo(403);
            assertThat(refused.message()).contains("another team");
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
            /builds?limit=0                                  | 'limit' must be a number from 1 to 100
            /builds?limit=x                                  | 'limit' must be a number from 1 to 100
            /builds?cursor=x                                 | 'cursor' must be 'nextCursor'
            /builds?statuses=done                            | 'statuses' may have building, failed and success
            /builds/statuses                                 | 'build_ids' must be 1 to 100 ids
            /builds/statuses?build_ids=x                     | 'build_ids' must be 1 to 100 ids
            /builds/x                                        | UUID
            /templates?public=maybe                          | 'public' must be true or false
            /templates?sort=name                             | 'sort' must be created_at_asc
            /templates?sort=created_at_up                    | 'sort' must be created_at_asc
            /templates/base/tags/groups?assignmentLimit=26   | 'assignmentLimit' must be a number from 1 to 25
            /templates/base/tags/groups?tagsLimit=101        | 'tagsLimit' must be a number from 1 to 100
            /templates/base/tags/groups?sort=latest          | 'sort' must be latest_desc
            /templates/base/tags/groups?search=a%20b         | 'search' must be at most 64
            /templates/base/tags/exists                      | 'tag' must be 1 to 128
            /templates/base/tags/a%20b/assignments           | 'tag' must be 1 to 128
            """)
    void aWrongParameterIsNamed(String path, String why) {
        var answer = cay.call("GET", BASE + path);
        assertThat(answer.status()).isEqualTo(400);
        assertThat(answer.message()).contains(why);
    }

    @Test
    void moreThanAHundredIdsAreTooMany() {
        String ids = String.join(",", Collections.nCopies(101, UNKNOWN));
        assertThat(cay.call("GET", BASE + "/builds/statuses?build_ids=" + ids).status())
                .isEqualTo(400);
    }

    /// The host is no sandbox, and has the dashboard API alone.
    @Test
    void theHostHasTheSameWithoutThePrefix() {
        var host = Map.of("Host", "dashboard-api.cay.test:8443", "X-API-Key", cay.key);
        assertThat(cay.request("GET", "/templates?limit=1", host).json()).isEqualTo(get("/templates?limit=1"));
        assertThat(cay.request("GET", "/health", host).text()).isEqualTo("{\"message\":\"Cay serves\"}");
        assertThat(cay.request("GET", "/v2/sandboxes", host).status()).isEqualTo(404);
        assertThat(cay.request("GET", "/dashboard/session", host).status()).isEqualTo(404);
        var nobody = cay.request("GET", "/templates", Map.of("Host", "dashboard-api.cay.test"));
        assertThat(nobody.status()).isEqualTo(401);
        var wrong = Map.of("Host", "dashboard-api.cay.test", "X-API-Key", "e2b_" + "0".repeat(40));
        assertThat(cay.request("GET", "/templates", wrong).status()).isEqualTo(401);
        var asked = cay.request(
                "OPTIONS",
                "/templates",
                Map.of("Host", "dashboard-api.cay.test", "Access-Control-Request-Headers", "x-team-id"));
        assertThat(asked.header("Access-Control-Allow-Headers")).isEqualTo("x-team-id");
    }

    @Test
    void itIsNotServedInsideASandbox() throws Exception {
        var id = new SandboxId(cay.create());
        var answer =
                cay.requestFromInside(id, "/templates", Map.of("Host", "dashboard-api.cay.test", "X-API-Key", cay.key));
        assertThat(answer.status()).isEqualTo(404);
    }

    @Test
    void narrowKeysReadWhatTheyMayReadOfTheApi() {
        for (String scope : List.of("read", "templates", "sandboxes")) {
            String key = cay.call("POST", "/api-keys", "{\"name\":\"n\",\"scope\":\"%s\"}".formatted(scope))
                    .json()
                    .get("key")
                    .stringValue();
            int wanted = scope.equals("sandboxes") ? 403 : 200;
            for (String path : List.of("/builds", "/templates", "/templates/base/tags/count")) {
                assertThat(cay.request("GET", BASE + path, Map.of("X-API-Key", key))
                                .status())
                        .as(scope + path)
                        .isEqualTo(wanted);
            }
        }
    }

    @Test
    void blockingATeamIsNotSupportedAndSaysSo() {
        var answer = cay.admin("PUT", BASE + "/admin/teams/%s/block".formatted(team()), "{\"reason\":\"x\"}");
        assertThat(answer.status()).isEqualTo(501);
        assertThat(answer.message()).contains("blocking a team");
        assertThat(cay.call("PUT", BASE + "/admin/teams/%s/ban".formatted(team()), "{}")
                        .status())
                .isEqualTo(401);
    }
}
