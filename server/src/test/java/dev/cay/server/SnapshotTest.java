package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.server.template.Origin;
import dev.cay.testing.Fast;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.Resources;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/// Sandboxes that are saved while they go on.
@Fast
final class SnapshotTest extends ServerTest {
    @Test
    void aSnapshotWithoutANameIsATemplateByItsId() {
        String id = create("\"envVars\":{\"A\":\"1\"}");
        var taken = snapshot(id, "");
        String snapshot = taken.get("snapshotID").stringValue();
        assertThat(snapshot).matches("[a-z0-9]{20}:default");
        assertThat(taken.get("names").isEmpty()).isTrue();
        assertThat(state(id)).isEqualTo("running");
        assertThat(story(id)).containsExactly("create", "checkpoint");
        assertThat(cay.node.calls).contains("snapshot " + id + " MEMORY");

        for (String name : List.of(snapshot, snapshot.substring(0, 20))) {
            var made = cay.create("{\"templateID\":\"" + name + "\",\"envVars\":{\"B\":\"2\"}}");
            var spec = cay.node.running.get(new SandboxId(made.get("sandboxID").stringValue()));
            assertThat(spec.snapshot())
                    .isEqualTo(cay.node.snapshots().iterator().next());
            assertThat(spec.layers()).containsExactly("layer1", "layer0");
            assertThat(spec.resources()).isEqualTo(new Resources(2, 512, 10240));
            assertThat(spec.environment()).containsOnlyKeys("B", "E2B_TEAM_ID");
            assertThat(story(spec.id().value())).containsExactly("create");
        }
        assertThat(cay.call("GET", "/templates").json().size())
                .as("snapshots are not listed as templates")
                .isEqualTo(1);
    }

    @Test
    void aSnapshotIsFoundByItsNameInAllItsForms() {
        String id = cay.create();
        var taken = snapshot(id, "{\"name\":\"Mine\"}");
        String name = taken.get("snapshotID").stringValue();
        assertThat(name).endsWith("/mine:default");
        assertThat(taken.get("names").get(0).stringValue()).isEqualTo(name);
        String team = name.substring(0, name.indexOf('/'));
        for (String form : List.of("mine", "mine:default", team + "/mine", name)) {
            assertThat(create(form, 201).get("alias").stringValue()).isEqualTo("mine");
        }
        create("mine:v1", 404);
        create("other/mine", 404);
    }

    @Test
    void aNameMayHaveTags() {
        String id = cay.create();
        String first = snapshot(id, "{\"name\":\"mine:v1\"}").get("snapshotID").stringValue();
        cay.clock.pass(Duration.ofSeconds(1));
        String second = snapshot(id, "{\"name\":\"mine:v2\"}").get("snapshotID").stringValue();
        assertThat(first).endsWith("/mine:v1");
        assertThat(second).endsWith("/mine:v2");
        assertThat(cay.node.snapshots()).hasSize(2);
        String one = spec(create(first, 201)).snapshot();
        String two = spec(create("mine:v2", 201)).snapshot();
        assertThat(one).isNotEqualTo(two);
        assertThat(spec(create("mine", 201)).snapshot()).as("the newest").isEqualTo(two);
        create("mine:v3", 404);
    }

    @Test
    void aNameThatIsTakenAgainStandsForTheNewOne() {
        String id = cay.create();
        var first = snapshot(id, "{\"name\":\"mine\"}");
        String old = cay.node.snapshots().iterator().next();
        String template = create("mine", 201).get("templateID").stringValue();
        cay.clock.pass(Duration.ofSeconds(1));
        var second = snapshot(id, "{\"name\":\"mine\"}");
        assertThat(second.get("snapshotID")).isEqualTo(first.get("snapshotID"));
        assertThat(second.get("templateID")).isEqualTo(first.get("templateID"));
        assertThat(second.get("buildID")).isNotEqualTo(first.get("buildID"));
        assertThat(second.get("sandboxID").stringValue()).isEqualTo(id);
        assertThat(cay.node.snapshots()).hasSize(1).doesNotContain(old);
        var made = create("mine", 201);
        assertThat(spec(made).snapshot())
                .isEqualTo(cay.node.snapshots().iterator().next());
        assertThat(made.get("templateID").stringValue()).isEqualTo(template);
        assertThat(cay.call("GET", "/snapshots").json().size()).isEqualTo(1);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
            {"name":"base"}        | 409 | 'base' is the name of a template
            {"name":"other/mine"}  | 400 | namespace
            {"name":"a/b/c"}       | 400 | invalid template name
            {"name":7}             | 400 | 'name' must be a string
            """)
    void refusesANameBeforeAnythingIsSaved(String body, int status, String part) {
        String id = cay.create();
        var answer = cay.call("POST", "/sandboxes/" + id + "/snapshots", body);
        assertThat(answer.status()).isEqualTo(status);
        assertThat(answer.message()).contains(part);
        assertThat(cay.node.count("snapshot")).isZero();
    }

    @Test
    void onlyARunningSandboxCanBeSaved() {
        String id = cay.create();
        pause(id, "");
        var answer = cay.call("POST", "/sandboxes/" + id + "/snapshots", "{}");
        assertThat(answer.status()).isEqualTo(409);
        assertThat(answer.message()).contains("is paused; connect to it first");
        assertThat(cay.call("POST", "/sandboxes/inothing/snapshots", "{}").status())
                .isEqualTo(404);
    }

    @Test
    void whatCannotBeSavedIsTold() {
        cay.node.unsavable = "a device";
        String id = cay.create();
        var answer = cay.call("POST", "/sandboxes/" + id + "/snapshots", "{}");
        assertThat(answer.status()).isEqualTo(422);
        assertThat(answer.json().get("error_code").stringValue()).isEqualTo("sandbox_memory_not_saved");
        assertThat(cay.call("GET", "/snapshots").json().isEmpty()).isTrue();
        assertThat(story(id)).containsExactly("create");
        snapshot(id, "{\"memory\":false}");
        assertThat(cay.node.calls).contains("snapshot " + id + " FILES");
    }

    @Test
    void listsNewestFirstFilteredAndInPages() {
        String one = cay.create();
        String two = cay.create();
        for (int i = 0; i < 3; i++) {
            snapshot(one, "{\"name\":\"one:v" + i + "\"}");
            cay.clock.pass(Duration.ofSeconds(1));
        }
        String unnamed = snapshot(two, "").get("snapshotID").stringValue();
        assertThat(list("")).hasSize(4).first().isEqualTo(unnamed);
        assertThat(list("?sandboxID=" + two)).containsExactly(unnamed);
        assertThat(list("?name=one")).hasSize(3);
        assertThat(list("?name=one:v1")).hasSize(1).first().asString().endsWith("/one:v1");
        assertThat(list("?name=one:default")).isEmpty();
        assertThat(list("?name=nothing")).isEmpty();
        var page = cay.call("GET", "/snapshots?limit=3");
        assertThat(page.json().size()).isEqualTo(3);
        var rest = cay.call("GET", "/snapshots?limit=3&nextToken=" + page.header("X-Next-Token"));
        assertThat(rest.json().size()).isEqualTo(1);
        assertThat(rest.json().get(0).get("snapshotID").stringValue()).endsWith("/one:v0");
        assertThat(rest.header("X-Next-Token")).isNull();
    }

    @Test
    void deletesASnapshotAndLeavesSandboxesMadeFromIt() {
        String id = cay.create();
        String name = snapshot(id, "{\"name\":\"mine\"}").get("snapshotID").stringValue();
        String other = snapshot(id, "").get("snapshotID").stringValue();
        var made = create("mine", 201).get("sandboxID").stringValue();
        assertThat(delete(name)).isEqualTo(204);
        assertThat(delete(name)).isEqualTo(404);
        assertThat(cay.node.snapshots()).hasSize(1);
        assertThat(delete(other)).isEqualTo(204);
        assertThat(cay.node.snapshots()).isEmpty();
        create("mine", 404);
        assertThat(state(made)).isEqualTo("running");
        assertThat(list("")).isEmpty();
        assertThat(delete("base")).isEqualTo(403);
        snapshot(id, "{\"name\":\"mine\"}");
        create("mine", 201);
    }

    @Test
    void aSnapshotOutlivesItsSandboxAndARestart() throws Exception {
        String id = cay.create();
        String name = snapshot(id, "{\"name\":\"mine:v1\"}").get("snapshotID").stringValue();
        String unnamed = snapshot(id, "").get("snapshotID").stringValue();
        cay.call("DELETE", "/sandboxes/" + id);
        restart();
        assertThat(cay.node.snapshots()).hasSize(2);
        assertThat(list("")).containsExactlyInAnyOrder(name, unnamed);
        assertThat(spec(create(name, 201)).layers()).containsExactly("layer1", "layer0");
        create(unnamed, 201);
    }

    @Test
    void aSnapshotIsMadeOfWhatItsSandboxWasMadeOf() {
        String id = cay.create();
        cay.server
                .templates()
                .register("base", new Resources(1, 128, 1024), new Origin(List.of("layer2"), "root", "/srv"), null);
        snapshot(id, "{\"name\":\"mine\"}");
        var spec = spec(create("mine", 201));
        assertThat(spec.layers()).containsExactly("layer1", "layer0");
        assertThat(spec.resources()).isEqualTo(new Resources(2, 512, 10240));
        assertThat(spec.defaultUser()).isEqualTo("user");
        assertThat(spec(create("base", 201)).layers()).containsExactly("layer2");
    }

    @Test
    void aSnapshotOfACopyCanBeTakenToo() {
        snapshot(cay.create(), "{\"name\":\"first\"}");
        String copy = create("first", 201).get("sandboxID").stringValue();
        snapshot(copy, "{\"name\":\"second\"}");
        assertThat(spec(create("second", 201)).layers()).containsExactly("layer1", "layer0");
    }

    @Test
    void startSettlesSnapshotsWithTheNode() throws Exception {
        String id = cay.create();
        snapshot(id, "{\"name\":\"lost\"}");
        String lost = cay.node.snapshots().iterator().next();
        snapshot(id, "{\"name\":\"half:a\"}");
        String kept = newest(lost);
        snapshot(id, "{\"name\":\"half:b\"}");
        cay.close();
        cay.node.snapshots.keySet().removeIf(name -> !name.equals(kept));
        cay.node.snapshots.put("stray", cay.node.running.get(new SandboxId(id)));
        cay = TestServer.again(directory, cay);
        assertThat(cay.node.snapshots()).containsExactly(kept);
        assertThat(list("")).hasSize(1).first().asString().endsWith("/half:a");
        create("lost", 404);
        create("half:b", 404);
        assertThat(spec(create("half", 201)).snapshot()).isEqualTo(kept);
        restart();
        assertThat(list("")).hasSize(1);
    }

    @Test
    void aCreateThatLosesARaceWithANewerSnapshotTakesThat() {
        String id = cay.create();
        snapshot(id, "{\"name\":\"mine\"}");
        String old = cay.node.snapshots().iterator().next();
        cay.node.onCreate = spec -> {
            if (old.equals(spec.snapshot())) {
                snapshot(id, "{\"name\":\"mine\"}");
                assertThat(cay.node.snapshots()).doesNotContain(old);
            }
        };
        assertThat(spec(create("mine", 201)).snapshot()).isNotEqualTo(old);
        assertThat(cay.node.running).hasSize(2);
    }

    @Test
    void aNodeThatFailsLeavesNothingBehind() {
        String id = cay.create();
        cay.node.onSnapshot = _ -> {
            throw new CayException(ErrorKind.UNAVAILABLE, "the disk is full");
        };
        assertThat(cay.call("POST", "/sandboxes/" + id + "/snapshots", "{}").status())
                .isEqualTo(503);
        assertThat(list("")).isEmpty();
        assertThat(cay.node.count("delete snapshot")).isEqualTo(1);
    }

    private String newest(String other) {
        return cay.node.snapshots().stream()
                .filter(name -> !name.equals(other))
                .findFirst()
                .orElseThrow();
    }

    private JsonNode snapshot(String id, String body) {
        var answer = cay.call("POST", "/sandboxes/" + id + "/snapshots", body);
        assertThat(answer.status()).isEqualTo(201);
        return answer.json();
    }

    private List<String> list(String query) {
        return cay.call("GET", "/snapshots" + query).json().values().stream()
                .map(snapshot -> snapshot.get("snapshotID").stringValue())
                .toList();
    }

    private int delete(String name) {
        return cay.call("DELETE", "/templates/" + URLEncoder.encode(name, StandardCharsets.UTF_8))
                .status();
    }

    private JsonNode create(String template, int status) {
        var answer = cay.call("POST", "/v2/sandboxes", "{\"templateID\":\"" + template + "\"}");
        assertThat(answer.status()).isEqualTo(status);
        return answer.json();
    }

    private dev.cay.wire.node.SandboxSpec spec(JsonNode sandbox) {
        return cay.node.running.get(new SandboxId(sandbox.get("sandboxID").stringValue()));
    }
}
