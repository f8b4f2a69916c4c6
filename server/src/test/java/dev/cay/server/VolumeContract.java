package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.server.store.Store;
import dev.cay.testing.Await;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import dev.cay.wire.VolumeId;
import dev.cay.wire.node.SandboxSpec;
import dev.cay.wire.node.VolumeMount;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/// What is promised of volumes, whatever engine the store has.
@Timeout(120)
abstract class VolumeContract {
    private static final String UNKNOWN = "00000000-0000-4000-8000-000000000009";

    @TempDir
    Path directory;

    TestServer cay;

    /// The same records each time within one test.
    abstract Store open() throws Exception;

    /// Called before each test.
    void empty() throws Exception {}

    @BeforeEach
    final void start() throws Exception {
        empty();
        cay = TestServer.on(open(), directory, new FakeNode(), new FakeClock(), "");
    }

    @AfterEach
    final void stop() {
        cay.close();
    }

    private void restart() throws Exception {
        cay.close();
        cay = TestServer.on(open(), directory, cay.node, cay.clock, cay.key);
    }

    private JsonNode volume(String name) {
        var answer = cay.call("POST", "/volumes", "{\"name\": \"%s\"}".formatted(name));
        assertThat(answer.status()).as(answer.text()).isEqualTo(201);
        return answer.json();
    }

    private static String id(JsonNode volume) {
        return volume.get("volumeID").stringValue();
    }

    private String mounting(String mounts) {
        var answer = cay.call("POST", "/v2/sandboxes", """
                {"templateID": "base", "timeout": 3600, "volumeMounts": %s}""".formatted(mounts));
        assertThat(answer.status()).as(answer.text()).isEqualTo(201);
        return answer.json().get("sandboxID").stringValue();
    }

    private TestServer.Answer content(JsonNode volume, String method, String rest, String body) {
        var headers = Map.of("Authorization", "Bearer " + volume.get("token").stringValue());
        return cay.request(method, "/volumecontent/%s/%s".formatted(id(volume), rest), headers, body);
    }

    private SandboxSpec spec(String sandbox) {
        return cay.node.running.get(new SandboxId(sandbox));
    }

    private void assertRefused(TestServer.Answer answer, int status, String text) {
        assertThat(answer.status()).as(answer.text()).isEqualTo(status);
        assertThat(answer.message()).contains(text);
    }

    @Test
    void aVolumeIsMadeListedShownAndDeleted() throws Exception {
        var made = volume("data");
        assertThat(made.get("name").stringValue()).isEqualTo("data");
        assertThat(made.get("domain").stringValue()).isEqualTo(TestServer.DOMAIN);
        assertThat(cay.node.volumes.sizes).containsEntry(new VolumeId(id(made)), FakeVolumes.MOST);

        restart();

        var list = cay.call("GET", "/volumes").json();
        assertThat(list.size()).isEqualTo(1);
        assertThat(list.get(0).get("volumeID").stringValue()).isEqualTo(id(made));
        assertThat(list.get(0).get("name").stringValue()).isEqualTo("data");
        assertThat(list.get(0).get("sizeMB").intValue()).isEqualTo(1024);
        var shown = cay.call("GET", "/volumes/" + id(made)).json();
        assertThat(shown.get("token").stringValue()).isNotBlank();

        assertThat(cay.call("DELETE", "/volumes/" + id(made)).status()).isEqualTo(204);
        assertThat(cay.node.volumes.sizes).isEmpty();
        assertRefused(cay.call("DELETE", "/volumes/" + id(made)), 404, "Volume not found");
        assertThat(cay.call("GET", "/volumes").text()).isEqualTo("[]");
        volume("data");
    }

    @Test
    void refusalsAreInTheContractsWords() {
        volume("data");
        assertRefused(
                cay.call("POST", "/volumes", "{\"name\": \"data\"}"), 400, "Volume with name 'data' already exists");
        for (String name : List.of("", "a b", "a/b", "a:ro", "ä", "x".repeat(129))) {
            assertRefused(
                    cay.call("POST", "/volumes", "{\"name\": \"%s\"}".formatted(name)),
                    400,
                    "Invalid volume name: 'name' must be");
        }
        assertRefused(cay.call("POST", "/volumes", "{}"), 400, "Invalid volume name");
        assertRefused(cay.call("GET", "/volumes/1"), 400, "Invalid volume ID");
        assertRefused(cay.call("DELETE", "/volumes/1"), 400, "Invalid volume ID");
        assertRefused(cay.call("GET", "/volumes/" + UNKNOWN), 404, "Volume not found");
        assertRefused(cay.call("POST", "/volumes", "{\"name\": \"x\", \"sizeMB\": 1025}"), 400, "'sizeMB' must be");
        assertRefused(cay.call("POST", "/volumes", "{\"name\": \"x\", \"sizeMB\": 0}"), 400, "'sizeMB' must be");
    }

    @Test
    void anotherTeamSeesNothing() {
        var mine = volume("mine");
        String key = cay.keyOfAnotherTeam();
        var foreign = Map.of("X-API-Key", key);

        assertThat(cay.request("GET", "/volumes", foreign, "").text()).isEqualTo("[]");
        assertRefused(cay.request("GET", "/volumes/" + id(mine), foreign, ""), 404, "Volume not found");
        assertRefused(cay.request("DELETE", "/volumes/" + id(mine), foreign, ""), 404, "Volume not found");
        assertRefused(cay.request("POST", "/v2/sandboxes", foreign, """
                        {"templateID": "base", "volumeMounts": [{"name": "mine", "path": "/data"}]}"""), 400, "Volume 'mine' not found");
        var theirs = cay.request("POST", "/volumes", foreign, "{\"name\": \"mine\"}");
        assertThat(theirs.status()).isEqualTo(201);
        var token = theirs.json().get("token").stringValue();
        assertThat(cay.request(
                                "GET",
                                "/volumecontent/%s/dir?path=/".formatted(id(mine)),
                                Map.of("Authorization", "Bearer " + token),
                                "")
                        .status())
                .isEqualTo(401);
        assertThat(cay.node.volumes.sizes).containsKey(new VolumeId(id(mine)));
    }

    @Test
    void filesAreServedToTheTokenOfTheVolumeAlone() {
        var volume = volume("data");
        var other = volume("other");
        String dir = "/volumecontent/%s/dir?path=/".formatted(id(volume));
        for (var headers : List.of(
                Map.<String, String>of(),
                Map.of("X-API-Key", cay.key),
                Map.of("Authorization", "Bearer " + cay.key),
                Map.of("Authorization", "Bearer " + other.get("token").stringValue()),
                Map.of("Authorization", "Basic " + volume.get("token").stringValue()),
                Map.of("Authorization", "Bearer cayvol_99999999999_k-0_" + "0".repeat(64)),
                Map.of("Authorization", "Bearer cayvol_99999999999_" + "0".repeat(64)))) {
            var refused = cay.request("GET", dir, headers, "");
            assertThat(refused.status()).as(headers.toString()).isEqualTo(401);
            assertThat(refused.json().get("code").stringValue()).isEqualTo("unauthenticated");
        }
        assertThat(content(volume, "GET", "dir?path=/", "").status()).isEqualTo(200);

        cay.clock.pass(Duration.ofHours(25));
        assertThat(content(volume, "GET", "dir?path=/", "").status()).isEqualTo(401);
        var fresh = cay.call("GET", "/volumes/" + id(volume)).json();
        assertThat(content(fresh, "GET", "dir?path=/", "").status()).isEqualTo(200);

        assertThat(cay.call("DELETE", "/volumes/" + id(volume)).status()).isEqualTo(204);
        var gone = content(fresh, "GET", "dir?path=/", "");
        assertThat(gone.status()).isEqualTo(404);
        assertThat(gone.json().get("code").stringValue()).isEqualTo("not_found");
    }

    @Test
    void filesAreMadeReadChangedAndRemoved() {
        var volume = volume("data");
        var made = content(volume, "POST", "dir?path=%2Fd&mode=448", "");
        assertThat(made.status()).as(made.text()).isEqualTo(201);
        assertThat(made.json().get("mode").intValue()).isEqualTo(0700);
        assertThat(made.json().get("type").stringValue()).isEqualTo("directory");
        assertThat(content(volume, "POST", "dir?path=%2Fd", "").status()).isEqualTo(409);
        assertThat(content(volume, "POST", "dir?path=%2Fd&force=true", "").status())
                .isEqualTo(201);

        var put = content(volume, "PUT", "file?path=%2Fd%2Fa.txt&uid=1000&gid=1000&mode=384", "hello");
        assertThat(put.status()).as(put.text()).isEqualTo(201);
        assertThat(put.json().get("size").intValue()).isEqualTo(5);
        assertThat(put.json().get("uid").intValue()).isEqualTo(1000);
        assertThat(put.json().get("name").stringValue()).isEqualTo("a.txt");
        assertThat(put.json().has("target")).isFalse();
        var again = content(volume, "PUT", "file?path=/d/a.txt", "other");
        assertThat(again.status()).isEqualTo(409);
        assertThat(again.json().get("code").stringValue()).isEqualTo("already_exists");
        assertThat(content(volume, "PUT", "file?path=/none/a.txt", "x").status())
                .isEqualTo(404);

        var read = content(volume, "GET", "file?path=/d/a.txt", "");
        assertThat(read.text()).isEqualTo("hello");
        assertThat(read.header("Content-Length")).isEqualTo("5");
        assertThat(read.header("Content-Type")).isEqualTo("application/octet-stream");

        var changed = content(volume, "PATCH", "path?path=/d/a.txt", "{\"mode\": 420}");
        assertThat(changed.json().get("mode").intValue()).isEqualTo(0644);
        assertThat(content(volume, "GET", "dir?path=/&depth=2", "").json().size())
                .isEqualTo(2);

        assertThat(content(volume, "DELETE", "path?path=/d", "").status()).isEqualTo(204);
        assertThat(content(volume, "DELETE", "path?path=/d", "").status()).isEqualTo(404);
        assertThat(content(volume, "GET", "path?path=/d", "").status()).isEqualTo(404);
    }

    @Test
    void aKeyForReadingListsAndReadsVolumesAndChangesNothing() {
        var volume = volume("data");
        content(volume, "PUT", "file?path=/a", "text");
        String key = cay.call("POST", "/api-keys", "{\"name\":\"k\",\"scope\":\"read\"}")
                .json()
                .get("key")
                .stringValue();
        var headers = Map.of("X-API-Key", key);
        assertThat(cay.request("GET", "/volumes", headers)
                        .json()
                        .get(0)
                        .get("name")
                        .stringValue())
                .isEqualTo("data");
        var shown = cay.request("GET", "/volumes/" + id(volume), headers).json();
        assertThat(content(shown, "GET", "file?path=/a", "").text()).isEqualTo("text");
        assertThat(content(shown, "GET", "dir?path=/", "").status()).isEqualTo(200);
        assertThat(content(shown, "GET", "path?path=/a", "").status()).isEqualTo(200);
        assertRefused(content(shown, "PUT", "file?path=/b", "x"), 403, "for reading");
        assertRefused(content(shown, "POST", "dir?path=/d", ""), 403, "for reading");
        assertRefused(content(shown, "PATCH", "path?path=/a", "{\"mode\": 0}"), 403, "for reading");
        assertRefused(content(shown, "DELETE", "path?path=/a", ""), 403, "for reading");
        String forged = shown.get("token").stringValue().replace("cayvolro_", "cayvol_");
        var refused = cay.request(
                "DELETE",
                "/volumecontent/%s/path?path=/a".formatted(id(volume)),
                Map.of("Authorization", "Bearer " + forged),
                "");
        assertThat(refused.status()).isEqualTo(401);
        assertThat(cay.request("DELETE", "/volumes/" + id(volume), headers).status())
                .isEqualTo(403);
        for (String scope : List.of("sandboxes", "templates")) {
            String other = cay.call("POST", "/api-keys", "{\"name\":\"k\",\"scope\":\"%s\"}".formatted(scope))
                    .json()
                    .get("key")
                    .stringValue();
            assertThat(cay.request("GET", "/volumes/" + id(volume), Map.of("X-API-Key", other))
                            .status())
                    .as(scope)
                    .isEqualTo(403);
        }
    }

    @Test
    void aTokenEndsWithTheKeyThatItWasGivenTo() {
        var volume = volume("data");
        var revoked = cay.call("POST", "/api-keys", "{\"name\":\"k\"}").json();
        var expired = cay.call(
                        "POST",
                        "/api-keys",
                        "{\"name\":\"k\",\"expiresAt\":\"%s\"}"
                                .formatted(cay.clock.instant().plus(Duration.ofMinutes(5))))
                .json();
        var reader = cay.call("POST", "/api-keys", "{\"name\":\"k\",\"scope\":\"read\"}")
                .json();
        for (var key : List.of(revoked, expired, reader)) {
            var given = shown(volume, key);
            assertThat(content(given, "GET", "dir?path=/", "").status())
                    .as("the control")
                    .isEqualTo(200);
            if (key == expired) {
                cay.clock.pass(Duration.ofMinutes(6));
            } else {
                cay.call("DELETE", "/api-keys/" + key.get("id").stringValue());
            }
            assertRefused(content(given, "GET", "dir?path=/", ""), 401, "not valid any more");
            var other = given.get("token").stringValue().replaceAll("k-[0-9a-f-]+", "k-" + "0".repeat(36));
            assertThat(cay.request(
                                    "GET",
                                    "/volumecontent/%s/dir?path=/".formatted(id(volume)),
                                    Map.of("Authorization", "Bearer " + other))
                            .status())
                    .as("another holder")
                    .isEqualTo(401);
        }
        assertThat(content(volume, "GET", "dir?path=/", "").status())
                .as("the token of another key")
                .isEqualTo(200);
    }

    private JsonNode shown(JsonNode volume, JsonNode key) {
        return cay.request(
                        "GET",
                        "/volumes/" + id(volume),
                        Map.of("X-API-Key", key.get("key").stringValue()))
                .json();
    }

    @Test
    void aTokenOfTheOperatorEndsWithTheAdminToken() throws Exception {
        var volume = volume("data");
        String team = cay.call("GET", "/teams").json().get(0).get("teamID").stringValue();
        var given = cay.request(
                        "GET", "/volumes/" + id(volume), Map.of("X-Admin-Token", cay.adminToken, "X-Team-ID", team))
                .json();
        assertThat(content(given, "GET", "dir?path=/", "").status()).isEqualTo(200);
        Files.writeString(directory.resolve("admin.token"), "cay_admin_" + "0".repeat(64));
        assertRefused(content(given, "GET", "dir?path=/", ""), 401, "not valid any more");
    }

    @Test
    void changesOfFilesAreInTheAuditLog() throws Exception {
        var volume = volume("data");
        content(volume, "PUT", "file?path=/secret-name", "text");
        content(volume, "GET", "file?path=/secret-name", "");
        content(volume, "POST", "dir?path=/d", "");
        content(volume, "PATCH", "path?path=/d", "{\"mode\": 448}");
        content(volume, "DELETE", "path?path=/d", "");
        cay.request("DELETE", "/volumecontent/%s/path?path=/d".formatted(id(volume)), Map.of(), "");
        TestServer.await(
                "the audit log",
                () -> cay.admin("GET", "/admin/audit?action=volume", "").json().size() == 6);
        var entries = cay.admin("GET", "/admin/audit?action=volume", "");
        assertThat(entries.text()).doesNotContain("secret-name");
        var actions = new ArrayList<String>();
        entries.json()
                .forEach(entry -> actions.add("%s %s %s"
                        .formatted(
                                entry.get("action").stringValue(),
                                entry.get("actor").stringValue().replaceAll("^key:.*", "key"),
                                entry.get("result").stringValue())));
        String own = "volume:" + id(volume);
        assertThat(actions)
                .containsExactlyInAnyOrder(
                        "volume.create key ok",
                        "volume.write-file %s ok".formatted(own),
                        "volume.make-directory %s ok".formatted(own),
                        "volume.change-file %s ok".formatted(own),
                        "volume.delete-file %s ok".formatted(own),
                        "volume.delete-file unknown refused");
        var ofTeam = cay.call("GET", "/audit?action=volume.write-file");
        assertThat(ofTeam.json().get(0).get("volume").stringValue()).isEqualTo(id(volume));
        assertThat(ofTeam.json().get(0).get("credential").stringValue()).isEqualTo("volume token");
    }

    @Test
    void badQueriesNameTheField() {
        var volume = volume("data");
        assertRefused(content(volume, "GET", "path", ""), 400, "'path'");
        assertRefused(content(volume, "PUT", "file?path=/a&uid=-1", "x"), 400, "'uid'");
        assertRefused(content(volume, "PUT", "file?path=/a&gid=70000", "x"), 400, "'gid'");
        assertRefused(content(volume, "PUT", "file?path=/a&mode=abc", "x"), 400, "'mode'");
        assertRefused(content(volume, "GET", "dir?path=/&depth=1000", ""), 400, "'depth'");
        assertRefused(content(volume, "PATCH", "path?path=/", "{\"mode\": 99999}"), 400, "'mode'");
        assertThat(cay.request("GET", "/volumecontent/1/dir?path=/", Map.of(), "")
                        .status())
                .isEqualTo(400);
    }

    @Test
    void aSandboxIsGivenItsVolumes() throws Exception {
        var data = volume("data");
        var other = volume("other");
        String sandbox = mounting("""
                [{"name": "data", "path": "/data"}, {"name": "other", "path": "/srv/x", "readOnly": true},
                 {"name": "data:ro", "path": "/srv/again"}]""");

        assertThat(spec(sandbox).volumes())
                .containsExactly(
                        new VolumeMount(new VolumeId(id(data)), "/data", false),
                        new VolumeMount(new VolumeId(id(other)), "/srv/x", true),
                        new VolumeMount(new VolumeId(id(data)), "/srv/again", true));
        restart();
        var mounts = cay.call("GET", "/sandboxes/" + sandbox).json().get("volumeMounts");
        assertThat(mounts.toString()).isEqualTo("""
                [{"name":"data","path":"/data"},{"name":"other","path":"/srv/x","readOnly":true},\
                {"name":"data","path":"/srv/again","readOnly":true}]""");
        assertThat(cay.call("GET", "/v2/sandboxes").json().get(0).get("volumeMounts"))
                .isEqualTo(mounts);
    }

    @Test
    void aVolumeInUseIsNotDeletedAndTheRefusalNamesItsUsers() throws Exception {
        var data = volume("data");
        String runs = mounting("[{\"name\": \"data\", \"path\": \"/data\"}]");
        String sleeps = mounting("[{\"name\": \"data\", \"path\": \"/data\"}]");
        assertThat(cay.call("POST", "/sandboxes/%s/pause".formatted(sleeps), "{}")
                        .status())
                .isEqualTo(204);
        assertThat(cay.call("POST", "/sandboxes/%s/snapshots".formatted(runs), "{\"name\": \"kept\"}")
                        .status())
                .isEqualTo(201);
        restart();

        var refused = cay.call("DELETE", "/volumes/" + id(data));
        assertRefused(refused, 409, "Volume 'data' is in use by");
        assertThat(refused.message())
                .contains("sandbox %s (running)".formatted(runs))
                .contains("sandbox %s (paused)".formatted(sleeps))
                .contains("snapshot kept");
        assertThat(cay.node.volumes.sizes).containsKey(new VolumeId(id(data)));

        cay.call("DELETE", "/sandboxes/" + runs);
        cay.call("DELETE", "/sandboxes/" + sleeps);
        assertRefused(cay.call("DELETE", "/volumes/" + id(data)), 409, "in use by snapshot kept;");
        assertThat(cay.call("DELETE", "/templates/kept").status()).isEqualTo(204);
        assertThat(cay.call("DELETE", "/volumes/" + id(data)).status()).isEqualTo(204);
    }

    @Test
    void aSandboxAndADeletionOfItsVolumeAreNeverBothAnswered() throws Exception {
        for (int round = 0; round < 20; round++) {
            var data = volume("data" + round);
            var go = new CountDownLatch(1);
            try (var both = Executors.newVirtualThreadPerTaskExecutor()) {
                String mounts = "[{\"name\": \"data%d\", \"path\": \"/data\"}]".formatted(round);
                var create = both.submit(() -> {
                    go.await();
                    return cay.call("POST", "/v2/sandboxes", """
                            {"templateID": "base", "volumeMounts": %s}""".formatted(mounts));
                });
                var delete = both.submit(() -> {
                    go.await();
                    return cay.call("DELETE", "/volumes/" + id(data));
                });
                go.countDown();
                boolean created = create.get().status() == 201;
                boolean deleted = delete.get().status() == 204;
                assertThat(created).isNotEqualTo(deleted);
            }
        }
    }

    @Test
    void forksHaveTheVolumesOfTheirSource() {
        var data = volume("data");
        String sandbox = mounting("[{\"name\": \"data\", \"path\": \"/data\", \"readOnly\": true}]");
        var forks = cay.call("POST", "/sandboxes/%s/fork".formatted(sandbox), "{\"count\": 1, \"timeout\": 60}");
        assertThat(forks.status()).as(forks.text()).isEqualTo(201);
        String fork = forks.json().get(0).get("sandbox").get("sandboxID").stringValue();

        assertThat(spec(fork).volumes()).containsExactly(new VolumeMount(new VolumeId(id(data)), "/data", true));
        assertThat(cay.call("GET", "/sandboxes/" + fork)
                        .json()
                        .get("volumeMounts")
                        .toString())
                .isEqualTo("[{\"name\":\"data\",\"path\":\"/data\",\"readOnly\":true}]");
    }

    @Test
    void aSnapshotWantsVolumesAtThePathsItWasTakenWith() throws Exception {
        volume("data");
        var other = volume("other");
        String sandbox = mounting("[{\"name\": \"data:ro\", \"path\": \"/data\"}]");
        cay.call("POST", "/sandboxes/%s/snapshots".formatted(sandbox), "{\"name\": \"kept\"}");
        restart();

        String create = "{\"templateID\": \"kept\", \"volumeMounts\": %s}";
        for (String mounts : List.of(
                "[]",
                "[{\"name\": \"data\", \"path\": \"/other\"}]",
                "[{\"name\": \"data\", \"path\": \"/data\"}, {\"name\": \"data\", \"path\": \"/x\"}]")) {
            assertRefused(
                    cay.call("POST", "/v2/sandboxes", create.formatted(mounts)),
                    400,
                    "taken with volumes there: /data");
        }
        assertRefused(
                cay.call(
                        "POST",
                        "/v2/sandboxes",
                        create.formatted("[{\"name\": \"data\", \"path\": \"/data\", \"readOnly\": false}]")),
                400,
                "taken with it as read-only");
        var made = cay.call("POST", "/v2/sandboxes", create.formatted("[{\"name\": \"other\", \"path\": \"/data\"}]"));
        assertThat(made.status()).as(made.text()).isEqualTo(201);
        assertThat(spec(made.json().get("sandboxID").stringValue()).volumes())
                .containsExactly(new VolumeMount(new VolumeId(id(other)), "/data", true));
    }

    @Test
    void aSnapshotWithoutVolumesGetsNone() {
        volume("data");
        String sandbox = cay.create();
        cay.call("POST", "/sandboxes/%s/snapshots".formatted(sandbox), "{\"name\": \"plain\"}");

        assertRefused(cay.call("POST", "/v2/sandboxes", """
                        {"templateID": "plain", "volumeMounts": [{"name": "data", "path": "/data"}]}"""), 400, "the snapshot was taken without volumes");
    }

    @Test
    void aVolumeThatCouldNotBeMadeIsNotThere() throws Exception {
        cay.node.volumes.onCreate = () -> {
            throw new CayException(ErrorKind.UNAVAILABLE, "no room");
        };
        assertRefused(cay.call("POST", "/volumes", "{\"name\": \"data\"}"), 503, "no room");
        cay.node.volumes.onCreate = () -> {};

        assertThat(cay.call("GET", "/volumes").text()).isEqualTo("[]");
        volume("data");
    }

    @Test
    void whatTheNodeCouldNotDeleteIsDeletedByTheNextRun() throws Exception {
        var data = volume("data");
        cay.node.volumes.onDelete = () -> {
            throw new CayException(ErrorKind.UNAVAILABLE, "not now");
        };
        assertThat(cay.call("DELETE", "/volumes/" + id(data)).status()).isEqualTo(204);
        assertRefused(cay.call("GET", "/volumes/" + id(data)), 404, "Volume not found");
        assertThat(cay.node.volumes.sizes).hasSize(1);
        cay.node.volumes.onDelete = () -> {};

        restart();

        Await.until("the volume is deleted", cay.node.volumes.sizes::isEmpty);
    }

    /// The daemon is killed in the middle of a deletion.
    @Test
    void aDeletionThatAKillCutIsDoneAgainByTheNextRun() throws Exception {
        var data = volume("data");
        cay.node.volumes.onDelete = () -> {
            throw new Error("the daemon is killed");
        };
        cay.call("DELETE", "/volumes/" + id(data));
        restart();
        assertThat(cay.node.volumes.sizes).as("killed again").hasSize(1);
        assertThat(cay.call("GET", "/volumes").text()).isEqualTo("[]");
        assertRefused(cay.call("GET", "/volumes/" + id(data)), 404, "Volume not found");
        cay.node.volumes.onDelete = () -> {};
        restart();
        Await.until("the volume is deleted", cay.node.volumes.sizes::isEmpty);
    }

    @Test
    void aDeletionThatFailedIsCompletedAndNobodySeesTheVolumeMeanwhile() throws Exception {
        String team =
                cay.admin("GET", "/admin/teams", "").json().get(0).get("teamID").stringValue();
        cay.admin("PUT", "/admin/teams/%s/limits".formatted(team), "{\"diskMB\": 1500}");
        var data = volume("data");
        assertThat(content(data, "PUT", "file?path=/kept", "text").status()).isLessThan(300);
        var other = cay.call("POST", "/volumes", "{\"name\": \"other\", \"sizeMB\": 100}")
                .json();
        var tries = new AtomicInteger();
        cay.node.volumes.onDelete = () -> {
            tries.incrementAndGet();
            throw new CayException(ErrorKind.UNAVAILABLE, "the disk is busy");
        };
        assertThat(cay.call("DELETE", "/volumes/" + id(data)).status()).isEqualTo(204);

        assertThat(cay.call("GET", "/volumes").text()).doesNotContain(id(data)).contains(id(other));
        assertRefused(cay.call("GET", "/volumes/" + id(data)), 404, "Volume not found");
        assertThat(content(data, "GET", "file?path=/kept", "").status()).isBetween(401, 404);
        assertRefused(cay.call("DELETE", "/volumes/" + id(data)), 404, "Volume not found");
        assertRefused(cay.call("POST", "/v2/sandboxes", """
                        {"templateID": "base", "volumeMounts": [{"name": "data", "path": "/data"}]}"""), 400, "Volume 'data' not found");
        assertRefused(cay.call("POST", "/volumes", "{\"name\": \"data\"}"), 429, "does not fit into the team's share");
        assertThat(cay.call("POST", "/volumes", "{\"name\": \"data\", \"sizeMB\": 100}")
                        .status())
                .as("the name is free")
                .isEqualTo(201);

        Await.until("it is tried again", () -> tries.get() >= 2);
        cay.node.volumes.onDelete = () -> {};
        Await.until("the volume is deleted", () -> cay.node.volumes.sizes.size() == 2);
        Await.until(
                "its share is free",
                () -> cay.call("POST", "/volumes", "{\"name\": \"large\"}").status() == 201);
        assertThat(cay.call("GET", "/volumes").text()).contains(id(other));
    }

    @Test
    void aRunThatEndsWhileAVolumeIsMadeLeavesNothing() throws Exception {
        var name = new AtomicReference<String>();
        cay.node.volumes.onCreate = () -> {
            name.set("asked");
            throw new Error("the daemon is killed");
        };
        cay.request("POST", "/volumes", Map.of("X-API-Key", cay.key), "{\"name\": \"data\"}");
        assertThat(name).hasValue("asked");
        cay.node.volumes.onCreate = () -> {};

        restart();

        assertThat(cay.call("GET", "/volumes").text()).isEqualTo("[]");
        volume("data");
    }

    @Test
    void volumesOfTheNodeThatAreNotOnRecordAreKept() throws Exception {
        var stray = VolumeId.random();
        cay.node.volumes.create(stray, 1 << 20);

        restart();

        assertThat(cay.node.volumes.sizes).containsKey(stray);
    }

    @Test
    void volumesCountWithTheirSizeAgainstTheTeamsShareOfTheDisk() {
        String team =
                cay.admin("GET", "/admin/teams", "").json().get(0).get("teamID").stringValue();
        var set = cay.admin("PUT", "/admin/teams/%s/limits".formatted(team), "{\"diskMB\": 1500}");
        assertThat(set.status()).as(set.text()).isLessThan(300);

        volume("data");

        assertRefused(cay.call("POST", "/volumes", "{\"name\": \"more\"}"), 429, "does not fit into the team's share");
        assertThat(cay.call("POST", "/volumes", "{\"name\": \"small\", \"sizeMB\": 400}")
                        .status())
                .isEqualTo(201);
    }
}
