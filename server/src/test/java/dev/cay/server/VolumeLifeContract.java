package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.VolumeId;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/// Volumes are made and listed by their team, within its share of the disk.
interface VolumeLifeContract extends VolumeCalls {
    String UNKNOWN = "00000000-0000-4000-8000-000000000009";

    @Test
    default void aVolumeIsMadeListedShownAndDeleted() throws Exception {
        var made = volume("data");
        assertThat(made.get("name").stringValue()).isEqualTo("data");
        assertThat(made.get("domain").stringValue()).isEqualTo(TestServer.DOMAIN);
        assertThat(cay().node.volumes.sizes).containsEntry(new VolumeId(id(made)), FakeVolumes.MOST);

        restart();

        var list = cay().call("GET", "/volumes").json();
        assertThat(list.size()).isEqualTo(1);
        assertThat(list.get(0).get("volumeID").stringValue()).isEqualTo(id(made));
        assertThat(list.get(0).get("name").stringValue()).isEqualTo("data");
        assertThat(list.get(0).get("sizeMB").intValue()).isEqualTo(1024);
        var shown = cay().call("GET", "/volumes/" + id(made)).json();
        assertThat(shown.get("token").stringValue()).isNotBlank();

        assertThat(cay().call("DELETE", "/volumes/" + id(made)).status()).isEqualTo(204);
        assertThat(cay().node.volumes.sizes).isEmpty();
        assertRefused(cay().call("DELETE", "/volumes/" + id(made)), 404, "Volume not found");
        assertThat(cay().call("GET", "/volumes").text()).isEqualTo("[]");
        volume("data");
    }

    @Test
    default void refusalsAreInTheContractsWords() {
        volume("data");
        assertRefused(
                cay().call("POST", "/volumes", "{\"name\": \"data\"}"), 400, "Volume with name 'data' already exists");
        for (String name : List.of("", "a b", "a/b", "a:ro", "ä", "x".repeat(129))) {
            assertRefused(
                    cay().call("POST", "/volumes", "{\"name\": \"%s\"}".formatted(name)),
                    400,
                    "Invalid volume name: 'name' must be");
        }
        assertRefused(cay().call("POST", "/volumes", "{}"), 400, "Invalid volume name");
        assertRefused(cay().call("GET", "/volumes/1"), 400, "Invalid volume ID");
        assertRefused(cay().call("DELETE", "/volumes/1"), 400, "Invalid volume ID");
        assertRefused(cay().call("GET", "/volumes/" + UNKNOWN), 404, "Volume not found");
        assertRefused(cay().call("POST", "/volumes", "{\"name\": \"x\", \"sizeMB\": 1025}"), 400, "'sizeMB' must be");
        assertRefused(cay().call("POST", "/volumes", "{\"name\": \"x\", \"sizeMB\": 0}"), 400, "'sizeMB' must be");
    }

    @Test
    default void anotherTeamSeesNothing() {
        var mine = volume("mine");
        String key = cay().keyOfAnotherTeam();
        var foreign = Map.of("X-API-Key", key);

        assertThat(cay().request("GET", "/volumes", foreign, "").text()).isEqualTo("[]");
        assertRefused(cay().request("GET", "/volumes/" + id(mine), foreign, ""), 404, "Volume not found");
        assertRefused(cay().request("DELETE", "/volumes/" + id(mine), foreign, ""), 404, "Volume not found");
        assertRefused(cay().request("POST", "/v2/sandboxes", foreign, """
                        {"templateID": "base", "volumeMounts": [{"name": "mine", "path": "/data"}]}"""), 400, "Volume 'mine' not found");
        var theirs = cay().request("POST", "/volumes", foreign, "{\"name\": \"mine\"}");
        assertThat(theirs.status()).isEqualTo(201);
        var token = theirs.json().get("token").stringValue();
        assertThat(cay().request(
                                "GET",
                                "/volumecontent/%s/dir?path=/".formatted(id(mine)),
                                Map.of("Authorization", "Bearer " + token),
                                "")
                        .status())
                .isEqualTo(401);
        assertThat(cay().node.volumes.sizes).containsKey(new VolumeId(id(mine)));
    }

    @Test
    default void aVolumeThatCouldNotBeMadeIsNotThere() throws Exception {
        cay().node.volumes.onCreate = () -> {
            throw new CayException(ErrorKind.UNAVAILABLE, "no room");
        };
        assertRefused(cay().call("POST", "/volumes", "{\"name\": \"data\"}"), 503, "no room");
        cay().node.volumes.onCreate = () -> {};

        assertThat(cay().call("GET", "/volumes").text()).isEqualTo("[]");
        volume("data");
    }

    @Test
    default void aRunThatEndsWhileAVolumeIsMadeLeavesNothing() throws Exception {
        var name = new AtomicReference<String>();
        cay().node.volumes.onCreate = () -> {
            name.set("asked");
            throw new Error("the daemon is killed");
        };
        cay().request("POST", "/volumes", Map.of("X-API-Key", cay().key), "{\"name\": \"data\"}");
        assertThat(name).hasValue("asked");
        cay().node.volumes.onCreate = () -> {};

        restart();

        assertThat(cay().call("GET", "/volumes").text()).isEqualTo("[]");
        volume("data");
    }

    @Test
    default void volumesOfTheNodeThatAreNotOnRecordAreKept() throws Exception {
        var stray = VolumeId.random();
        cay().node.volumes.create(stray, 1 << 20);

        restart();

        assertThat(cay().node.volumes.sizes).containsKey(stray);
    }

    @Test
    default void volumesCountWithTheirSizeAgainstTheTeamsShareOfTheDisk() {
        String team = cay().admin("GET", "/admin/teams", "")
                .json()
                .get(0)
                .get("teamID")
                .stringValue();
        var set = cay().admin("PUT", "/admin/teams/%s/limits".formatted(team), "{\"diskMB\": 1500}");
        assertThat(set.status()).as(set.text()).isLessThan(300);

        volume("data");

        assertRefused(
                cay().call("POST", "/volumes", "{\"name\": \"more\"}"), 429, "does not fit into the team's share");
        assertThat(cay().call("POST", "/volumes", "{\"name\": \"small\", \"sizeMB\": 400}")
                        .status())
                .isEqualTo(201);
    }
}
