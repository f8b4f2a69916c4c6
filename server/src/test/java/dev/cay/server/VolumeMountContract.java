package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.wire.SandboxId;
import dev.cay.wire.VolumeId;
import dev.cay.wire.node.SandboxSpec;
import dev.cay.wire.node.VolumeMount;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Sandboxes, forks and snapshots have volumes.
interface VolumeMountContract extends VolumeCalls {
    private SandboxSpec spec(String sandbox) {
        return cay().node.running.get(new SandboxId(sandbox));
    }

    @Test
    default void aSandboxIsGivenItsVolumes() throws Exception {
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
        var mounts = cay().call("GET", "/sandboxes/" + sandbox).json().get("volumeMounts");
        assertThat(mounts.toString()).isEqualTo("""
                [{"name":"data","path":"/data"},{"name":"other","path":"/srv/x","readOnly":true},\
                {"name":"data","path":"/srv/again","readOnly":true}]""");
        assertThat(cay().call("GET", "/v2/sandboxes").json().get(0).get("volumeMounts"))
                .isEqualTo(mounts);
    }

    @Test
    default void forksHaveTheVolumesOfTheirSource() {
        var data = volume("data");
        String sandbox = mounting("[{\"name\": \"data\", \"path\": \"/data\", \"readOnly\": true}]");
        var forks = cay().call("POST", "/sandboxes/%s/fork".formatted(sandbox), "{\"count\": 1, \"timeout\": 60}");
        assertThat(forks.status()).as(forks.text()).isEqualTo(201);
        String fork = forks.json().get(0).get("sandbox").get("sandboxID").stringValue();

        assertThat(spec(fork).volumes()).containsExactly(new VolumeMount(new VolumeId(id(data)), "/data", true));
        assertThat(cay().call("GET", "/sandboxes/" + fork)
                        .json()
                        .get("volumeMounts")
                        .toString())
                .isEqualTo("[{\"name\":\"data\",\"path\":\"/data\",\"readOnly\":true}]");
    }

    @Test
    default void aSnapshotWantsVolumesAtThePathsItWasTakenWith() throws Exception {
        volume("data");
        var other = volume("other");
        String sandbox = mounting("[{\"name\": \"data:ro\", \"path\": \"/data\"}]");
        cay().call("POST", "/sandboxes/%s/snapshots".formatted(sandbox), "{\"name\": \"kept\"}");
        restart();

        String create = "{\"templateID\": \"kept\", \"volumeMounts\": %s}";
        for (String mounts : List.of(
                "[]",
                "[{\"name\": \"data\", \"path\": \"/other\"}]",
                "[{\"name\": \"data\", \"path\": \"/data\"}, {\"name\": \"data\", \"path\": \"/x\"}]")) {
            assertRefused(
                    cay().call("POST", "/v2/sandboxes", create.formatted(mounts)),
                    400,
                    "taken with volumes there: /data");
        }
        assertRefused(
                cay().call(
                                "POST",
                                "/v2/sandboxes",
                                create.formatted("[{\"name\": \"data\", \"path\": \"/data\", \"readOnly\": false}]")),
                400,
                "taken with it as read-only");
        var made =
                cay().call("POST", "/v2/sandboxes", create.formatted("[{\"name\": \"other\", \"path\": \"/data\"}]"));
        assertThat(made.status()).as(made.text()).isEqualTo(201);
        assertThat(spec(made.json().get("sandboxID").stringValue()).volumes())
                .containsExactly(new VolumeMount(new VolumeId(id(other)), "/data", true));
    }

    @Test
    default void aSnapshotWithoutVolumesGetsNone() {
        volume("data");
        String sandbox = cay().create();
        cay().call("POST", "/sandboxes/%s/snapshots".formatted(sandbox), "{\"name\": \"plain\"}");

        assertRefused(cay().call("POST", "/v2/sandboxes", """
                        {"templateID": "plain", "volumeMounts": [{"name": "data", "path": "/data"}]}"""), 400, "the snapshot was taken without volumes");
    }
}
