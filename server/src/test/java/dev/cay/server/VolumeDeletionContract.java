package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Await;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.VolumeId;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/// A volume is deleted when nobody uses it, also after a failure or a kill in between.
interface VolumeDeletionContract extends VolumeCalls {
    @Test
    default void aVolumeInUseIsNotDeletedAndTheRefusalNamesItsUsers() throws Exception {
        var data = volume("data");
        String runs = mounting("[{\"name\": \"data\", \"path\": \"/data\"}]");
        String sleeps = mounting("[{\"name\": \"data\", \"path\": \"/data\"}]");
        assertThat(cay().call("POST", "/sandboxes/%s/pause".formatted(sleeps), "{}")
                        .status())
                .isEqualTo(204);
        assertThat(cay().call("POST", "/sandboxes/%s/snapshots".formatted(runs), "{\"name\": \"kept\"}")
                        .status())
                .isEqualTo(201);
        restart();

        var refused = cay().call("DELETE", "/volumes/" + id(data));
        assertRefused(refused, 409, "Volume 'data' is in use by");
        assertThat(refused.message())
                .contains("sandbox %s (running)".formatted(runs))
                .contains("sandbox %s (paused)".formatted(sleeps))
                .contains("snapshot kept");
        assertThat(cay().node.volumes.sizes).containsKey(new VolumeId(id(data)));

        cay().call("DELETE", "/sandboxes/" + runs);
        cay().call("DELETE", "/sandboxes/" + sleeps);
        assertRefused(cay().call("DELETE", "/volumes/" + id(data)), 409, "in use by snapshot kept;");
        assertThat(cay().call("DELETE", "/templates/kept").status()).isEqualTo(204);
        assertThat(cay().call("DELETE", "/volumes/" + id(data)).status()).isEqualTo(204);
    }

    @Test
    default void aSandboxAndADeletionOfItsVolumeAreNeverBothAnswered() throws Exception {
        for (int round = 0; round < 20; round++) {
            var data = volume("data" + round);
            var go = new CountDownLatch(1);
            try (var both = Executors.newVirtualThreadPerTaskExecutor()) {
                String mounts = "[{\"name\": \"data%d\", \"path\": \"/data\"}]".formatted(round);
                var create = both.submit(() -> {
                    go.await();
                    return cay().call("POST", "/v2/sandboxes", """
                            {"templateID": "base", "volumeMounts": %s}""".formatted(mounts));
                });
                var delete = both.submit(() -> {
                    go.await();
                    return cay().call("DELETE", "/volumes/" + id(data));
                });
                go.countDown();
                boolean created = create.get().status() == 201;
                boolean deleted = delete.get().status() == 204;
                assertThat(created).isNotEqualTo(deleted);
            }
        }
    }

    @Test
    default void whatTheNodeCouldNotDeleteIsDeletedByTheNextRun() throws Exception {
        var data = volume("data");
        cay().node.volumes.onDelete = () -> {
            throw new CayException(ErrorKind.UNAVAILABLE, "not now");
        };
        assertThat(cay().call("DELETE", "/volumes/" + id(data)).status()).isEqualTo(204);
        assertRefused(cay().call("GET", "/volumes/" + id(data)), 404, "Volume not found");
        assertThat(cay().node.volumes.sizes).hasSize(1);
        cay().node.volumes.onDelete = () -> {};

        restart();

        Await.until("the volume is deleted", cay().node.volumes.sizes::isEmpty);
    }

    /// The daemon is killed in the middle of a deletion.
    @Test
    default void aDeletionThatAKillCutIsDoneAgainByTheNextRun() throws Exception {
        var data = volume("data");
        cay().node.volumes.onDelete = () -> {
            throw new Error("the daemon is killed");
        };
        cay().call("DELETE", "/volumes/" + id(data));
        restart();
        assertThat(cay().node.volumes.sizes).as("killed again").hasSize(1);
        assertThat(cay().call("GET", "/volumes").text()).isEqualTo("[]");
        assertRefused(cay().call("GET", "/volumes/" + id(data)), 404, "Volume not found");
        cay().node.volumes.onDelete = () -> {};
        restart();
        Await.until("the volume is deleted", cay().node.volumes.sizes::isEmpty);
    }

    @Test
    default void aDeletionThatFailedIsCompletedAndNobodySeesTheVolumeMeanwhile() throws Exception {
        String team = cay().admin("GET", "/admin/teams", "")
                .json()
                .get(0)
                .get("teamID")
                .stringValue();
        cay().admin("PUT", "/admin/teams/%s/limits".formatted(team), "{\"diskMB\": 1500}");
        var data = volume("data");
        assertThat(content(data, "PUT", "file?path=/kept", "text").status()).isLessThan(300);
        var other = cay().call("POST", "/volumes", "{\"name\": \"other\", \"sizeMB\": 100}")
                .json();
        var tries = new AtomicInteger();
        cay().node.volumes.onDelete = () -> {
            tries.incrementAndGet();
            throw new CayException(ErrorKind.UNAVAILABLE, "the disk is busy");
        };
        assertThat(cay().call("DELETE", "/volumes/" + id(data)).status()).isEqualTo(204);

        assertThat(cay().call("GET", "/volumes").text())
                .doesNotContain(id(data))
                .contains(id(other));
        assertRefused(cay().call("GET", "/volumes/" + id(data)), 404, "Volume not found");
        assertThat(content(data, "GET", "file?path=/kept", "").status()).isBetween(401, 404);
        assertRefused(cay().call("DELETE", "/volumes/" + id(data)), 404, "Volume not found");
        assertRefused(cay().call("POST", "/v2/sandboxes", """
                        {"templateID": "base", "volumeMounts": [{"name": "data", "path": "/data"}]}"""), 400, "Volume 'data' not found");
        assertRefused(
                cay().call("POST", "/volumes", "{\"name\": \"data\"}"), 429, "does not fit into the team's share");
        assertThat(cay().call("POST", "/volumes", "{\"name\": \"data\", \"sizeMB\": 100}")
                        .status())
                .as("the name is free")
                .isEqualTo(201);

        Await.until("it is tried again", () -> tries.get() >= 2);
        cay().node.volumes.onDelete = () -> {};
        Await.until("the volume is deleted", () -> cay().node.volumes.sizes.size() == 2);
        Await.until(
                "its share is free",
                () -> cay().call("POST", "/volumes", "{\"name\": \"large\"}").status() == 201);
        assertThat(cay().call("GET", "/volumes").text()).contains(id(other));
    }
}
