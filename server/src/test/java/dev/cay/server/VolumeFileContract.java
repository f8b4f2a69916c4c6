package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/// Files of a volume are served to whoever has its token, and to nobody else.
interface VolumeFileContract extends VolumeCalls {
    @Test
    default void filesAreServedToTheTokenOfTheVolumeAlone() {
        var volume = volume("data");
        var other = volume("other");
        String dir = "/volumecontent/%s/dir?path=/".formatted(id(volume));
        for (var headers : List.of(
                Map.<String, String>of(),
                Map.of("X-API-Key", cay().key),
                Map.of("Authorization", "Bearer " + cay().key),
                Map.of("Authorization", "Bearer " + other.get("token").stringValue()),
                Map.of("Authorization", "Basic " + volume.get("token").stringValue()),
                Map.of("Authorization", "Bearer cayvol_99999999999_k-0_" + "0".repeat(64)),
                Map.of("Authorization", "Bearer cayvol_99999999999_" + "0".repeat(64)))) {
            var refused = cay().request("GET", dir, headers, "");
            assertThat(refused.status()).as(headers.toString()).isEqualTo(401);
            assertThat(refused.json().get("code").stringValue()).isEqualTo("unauthenticated");
        }
        assertThat(content(volume, "GET", "dir?path=/", "").status()).isEqualTo(200);

        cay().clock.pass(Duration.ofHours(25));
        assertThat(content(volume, "GET", "dir?path=/", "").status()).isEqualTo(401);
        var fresh = cay().call("GET", "/volumes/" + id(volume)).json();
        assertThat(content(fresh, "GET", "dir?path=/", "").status()).isEqualTo(200);

        assertThat(cay().call("DELETE", "/volumes/" + id(volume)).status()).isEqualTo(204);
        var gone = content(fresh, "GET", "dir?path=/", "");
        assertThat(gone.status()).isEqualTo(404);
        assertThat(gone.json().get("code").stringValue()).isEqualTo("not_found");
    }

    @Test
    default void filesAreMadeReadChangedAndRemoved() {
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
    default void aKeyForReadingListsAndReadsVolumesAndChangesNothing() {
        var volume = volume("data");
        content(volume, "PUT", "file?path=/a", "text");
        String key = cay().call("POST", "/api-keys", "{\"name\":\"k\",\"scope\":\"read\"}")
                .json()
                .get("key")
                .stringValue();
        var headers = Map.of("X-API-Key", key);
        assertThat(cay().request("GET", "/volumes", headers)
                        .json()
                        .get(0)
                        .get("name")
                        .stringValue())
                .isEqualTo("data");
        var shown = cay().request("GET", "/volumes/" + id(volume), headers).json();
        assertThat(content(shown, "GET", "file?path=/a", "").text()).isEqualTo("text");
        assertThat(content(shown, "GET", "dir?path=/", "").status()).isEqualTo(200);
        assertThat(content(shown, "GET", "path?path=/a", "").status()).isEqualTo(200);
        assertRefused(content(shown, "PUT", "file?path=/b", "x"), 403, "for reading");
        assertRefused(content(shown, "POST", "dir?path=/d", ""), 403, "for reading");
        assertRefused(content(shown, "PATCH", "path?path=/a", "{\"mode\": 0}"), 403, "for reading");
        assertRefused(content(shown, "DELETE", "path?path=/a", ""), 403, "for reading");
        String forged = shown.get("token").stringValue().replace("cayvolro_", "cayvol_");
        var refused = cay().request(
                        "DELETE",
                        "/volumecontent/%s/path?path=/a".formatted(id(volume)),
                        Map.of("Authorization", "Bearer " + forged),
                        "");
        assertThat(refused.status()).isEqualTo(401);
        assertThat(cay().request("DELETE", "/volumes/" + id(volume), headers).status())
                .isEqualTo(403);
        for (String scope : List.of("sandboxes", "templates")) {
            String other = cay().call("POST", "/api-keys", "{\"name\":\"k\",\"scope\":\"%s\"}".formatted(scope))
                    .json()
                    .get("key")
                    .stringValue();
            assertThat(cay().request("GET", "/volumes/" + id(volume), Map.of("X-API-Key", other))
                            .status())
                    .as(scope)
                    .isEqualTo(403);
        }
    }

    @Test
    default void aTokenEndsWithTheKeyThatItWasGivenTo() {
        var volume = volume("data");
        var revoked = cay().call("POST", "/api-keys", "{\"name\":\"k\"}").json();
        var expired = cay().call(
                        "POST",
                        "/api-keys",
                        "{\"name\":\"k\",\"expiresAt\":\"%s\"}"
                                .formatted(cay().clock.instant().plus(Duration.ofMinutes(5))))
                .json();
        var reader = cay().call("POST", "/api-keys", "{\"name\":\"k\",\"scope\":\"read\"}")
                .json();
        for (var key : List.of(revoked, expired, reader)) {
            var given = shown(volume, key);
            assertThat(content(given, "GET", "dir?path=/", "").status())
                    .as("the control")
                    .isEqualTo(200);
            if (key == expired) {
                cay().clock.pass(Duration.ofMinutes(6));
            } else {
                cay().call("DELETE", "/api-keys/" + key.get("id").stringValue());
            }
            assertRefused(content(given, "GET", "dir?path=/", ""), 401, "not valid any more");
            var other = given.get("token").stringValue().replaceAll("k-[0-9a-f-]+", "k-" + "0".repeat(36));
            assertThat(cay().request(
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
        return cay().request(
                        "GET",
                        "/volumes/" + id(volume),
                        Map.of("X-API-Key", key.get("key").stringValue()))
                .json();
    }

    @Test
    default void aTokenOfTheOperatorEndsWithTheAdminToken() throws Exception {
        var volume = volume("data");
        String team = cay().call("GET", "/teams").json().get(0).get("teamID").stringValue();
        var given = cay().request(
                        "GET", "/volumes/" + id(volume), Map.of("X-Admin-Token", cay().adminToken, "X-Team-ID", team))
                .json();
        assertThat(content(given, "GET", "dir?path=/", "").status()).isEqualTo(200);
        Files.writeString(directory().resolve("admin.token"), "cay_admin_" + "0".repeat(64));
        assertRefused(content(given, "GET", "dir?path=/", ""), 401, "not valid any more");
    }

    /// Ends what an upload needs: the rights of its token, or its volume.
    interface End {
        void end() throws IOException;
    }

    /// Like every other request of the operator.
    @Test
    default void anUploadOfTheOperatorIsCutWhenTheAdminTokenIsRenewed() throws Exception {
        var volume = volume("data");
        String team = cay().call("GET", "/teams").json().get(0).get("teamID").stringValue();
        var given = cay().request(
                        "GET", "/volumes/" + id(volume), Map.of("X-Admin-Token", cay().adminToken, "X-Team-ID", team))
                .json();
        anUploadIsCut(
                given, () -> Files.writeString(directory().resolve("admin.token"), "cay_admin_" + "0".repeat(64)));
    }

    /// Else its client would be told that the file is there, and what it writes would count for nobody.
    @Test
    default void anUploadIsCutWhenTheVolumeIsDeleted() throws Exception {
        var volume = volume("data");
        anUploadIsCut(
                volume,
                () -> assertThat(cay().call("DELETE", "/volumes/" + id(volume)).status())
                        .isEqualTo(204));
        assertThat(content(volume, "GET", "path?path=/a", "").status()).isEqualTo(404);
    }

    @Test
    default void anUploadIsCutWhenTheKeyEndsThatItsTokenWasGivenTo() throws Exception {
        var volume = volume("data");
        var revoked = cay().call("POST", "/api-keys", "{\"name\":\"k\"}").json();
        anUploadIsCut(
                shown(volume, revoked),
                () -> cay().call("DELETE", "/api-keys/" + revoked.get("id").stringValue()));
        var expired = cay().call(
                        "POST",
                        "/api-keys",
                        "{\"name\":\"k\",\"expiresAt\":\"%s\"}"
                                .formatted(cay().clock.instant().plus(Duration.ofMinutes(5))))
                .json();
        anUploadIsCut(shown(volume, expired), () -> cay().clock.pass(Duration.ofMinutes(6)));
    }

    private void anUploadIsCut(JsonNode given, End end) throws Exception {
        try (var socket = cay().connect()) {
            socket.getOutputStream().write("""
                            PUT /volumecontent/%s/file?path=/a HTTP/1.1\r
                            Host: 127.0.0.1\r
                            Authorization: Bearer %s\r
                            Expect: 100-continue\r
                            Content-Length: 10\r
                            \r
                            """.formatted(
                    id(given), given.get("token").stringValue()).getBytes(StandardCharsets.US_ASCII));
            var answer = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
            assertThat(answer.readLine()).as("the body is being read").startsWith("HTTP/1.1 100");
            assertThat(answer.readLine()).isEmpty();
            end.end();
            assertThat(lineOrCut(answer)).isNull();
        }
    }

    private static @Nullable String lineOrCut(BufferedReader answer) throws IOException {
        try {
            return answer.readLine();
        } catch (SocketException _) {
            return null;
        }
    }

    @Test
    default void changesOfFilesAreInTheAuditLog() throws Exception {
        var volume = volume("data");
        content(volume, "PUT", "file?path=/secret-name", "text");
        content(volume, "GET", "file?path=/secret-name", "");
        content(volume, "POST", "dir?path=/d", "");
        content(volume, "PATCH", "path?path=/d", "{\"mode\": 448}");
        content(volume, "DELETE", "path?path=/d", "");
        cay().request("DELETE", "/volumecontent/%s/path?path=/d".formatted(id(volume)), Map.of(), "");
        TestServer.await(
                "the audit log",
                () -> cay().admin("GET", "/admin/audit?action=volume", "")
                                .json()
                                .size()
                        == 6);
        var entries = cay().admin("GET", "/admin/audit?action=volume", "");
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
        var ofTeam = cay().call("GET", "/audit?action=volume.write-file");
        assertThat(ofTeam.json().get(0).get("volume").stringValue()).isEqualTo(id(volume));
        assertThat(ofTeam.json().get(0).get("credential").stringValue()).isEqualTo("volume token");
    }

    @Test
    default void badQueriesNameTheField() {
        var volume = volume("data");
        assertRefused(content(volume, "GET", "path", ""), 400, "'path'");
        assertRefused(content(volume, "PUT", "file?path=/a&uid=-1", "x"), 400, "'uid'");
        assertRefused(content(volume, "PUT", "file?path=/a&gid=70000", "x"), 400, "'gid'");
        assertRefused(content(volume, "PUT", "file?path=/a&mode=abc", "x"), 400, "'mode'");
        assertRefused(content(volume, "GET", "dir?path=/&depth=1000", ""), 400, "'depth'");
        assertRefused(content(volume, "PATCH", "path?path=/", "{\"mode\": 99999}"), 400, "'mode'");
        assertThat(cay().request("GET", "/volumecontent/1/dir?path=/", Map.of(), "")
                        .status())
                .isEqualTo(400);
    }
}
