package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.wire.SandboxId;
import dev.cay.wire.node.DiskShare;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/// Sandboxes, snapshots and volumes of a team or an API key take no more of the disk than its share.
interface DiskShareContract extends LimitCalls {
    /// What sandboxes hold is read every few seconds, and volumes are made meanwhile.
    @Test
    default void volumesNeverTakeMoreThanIsLeftOfTheShare() {
        cay().node.diskUsed = 4 << 20;
        limit("{\"diskMB\": 10}");
        cay().create();
        assertThat(volume("one", 3).status()).isEqualTo(201);
        assertThat(volume("two", 3).status()).isEqualTo(201);
        refused(volume("three", 3), "10 MB of 10 MB are taken");
        refused(cay().call("POST", "/sandboxes", CREATE), "take 10 MB of 10 MB");
    }

    @Test
    default void aShareThatVolumesFillTakesNoSandbox() {
        limit("{\"diskMB\": 10}");
        assertThat(volume("one", 10).status()).isEqualTo(201);
        refused(cay().call("POST", "/sandboxes", CREATE), "take 10 MB of 10 MB");
        assertThat(cay().call("GET", "/limits").json().get("use").get("diskMB").longValue())
                .isEqualTo(10);
    }

    private TestServer.Answer volume(String name, int megabytes) {
        return cay().call("POST", "/volumes", "{\"name\": \"%s\", \"sizeMB\": %d}".formatted(name, megabytes));
    }

    /// Nobody has looked yet what the team holds.
    @Test
    default void aShareThatWasJustGivenIsFullAtOnce() {
        cay().node.diskUsed = 10 << 20;
        cay().create();
        limit("{\"diskMB\": 10}");
        refused(cay().call("POST", "/sandboxes", CREATE), "share of the disk is full");
    }

    /// What a snapshot takes is known when it is there.
    @Test
    default void snapshotsOfATeamWithAShareAreTakenOneAfterTheOther() throws Exception {
        limit("{\"diskMB\": 10}");
        String id = cay().create();
        var under = new AtomicInteger();
        cay().node.onSnapshot = _ -> {
            assertThat(under.incrementAndGet()).isEqualTo(1);
            cay().node.diskUsed = 10 << 20;
            under.decrementAndGet();
        };
        var takes = new ArrayList<Callable<TestServer.Answer>>();
        for (int i = 0; i < 5; i++) {
            takes.add(() -> cay().call("POST", "/sandboxes/%s/snapshots".formatted(id), "{}"));
        }
        var statuses = new ArrayList<Integer>();
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (var answer : threads.invokeAll(takes)) {
                statuses.add(answer.get().status());
            }
        }
        assertThat(statuses).containsExactlyInAnyOrder(201, 429, 429, 429, 429);
    }

    @Test
    default void aFullShareOfTheDiskTakesNoMore() {
        limit("{\"diskMB\": 10}");
        String one = cay().create();
        String two = cay().create();
        assertThat(cay().call("POST", "/sandboxes/%s/pause".formatted(two), "{}")
                        .status())
                .isEqualTo(204);
        TestServer.await(
                "the share",
                () -> cay().node.shares.stream()
                        .anyMatch(share ->
                                share.bytes() == 10 << 20 && share.sandboxes().size() == 2));
        cay().node.diskUsed = 5 << 20;
        TestServer.await(
                "what the team holds is known",
                () -> cay().call("GET", "/limits")
                                .json()
                                .get("use")
                                .get("diskMB")
                                .longValue()
                        == 10);
        refused(
                cay().call("POST", "/sandboxes", CREATE),
                "take 10 MB of 10 MB; kill sandboxes, delete snapshots or volumes");
        refused(cay().call("POST", "/sandboxes/%s/snapshots".formatted(one), "{}"), "share of the disk is full");
        // What is there can be reached and removed.
        assertThat(cay().call("POST", "/v2/sandboxes/%s/connect".formatted(two), "{}")
                        .status())
                .isEqualTo(201);
        assertThat(cay().call("DELETE", "/sandboxes/" + two).status()).isEqualTo(204);
        TestServer.await(
                "what the team holds is known",
                () -> cay().call("GET", "/limits")
                                .json()
                                .get("use")
                                .get("diskMB")
                                .longValue()
                        == 5);
        cay().create();
    }

    /// What it has made outlives its sandboxes, and no other key of the team notices its limit.
    @Test
    default void aKeyHasAShareOfTheDisk() throws Exception {
        String key = key("narrow", "{\"diskMB\": 10}");
        String id = cay().call("GET", "/api-keys").json().values().stream()
                .filter(one -> one.get("name").stringValue().equals("narrow"))
                .map(one -> one.get("id").stringValue())
                .findFirst()
                .orElseThrow();
        cay().node.diskUsed = 5 << 20;
        String mine =
                with(key, "POST", "/sandboxes", CREATE).json().get("sandboxID").stringValue();
        cay().create();
        TestServer.await(
                "the share",
                () -> cay().node
                        .shares
                        .equals(List.of(new DiskShare(10 << 20, Set.of(new SandboxId(mine)), Set.of()))));
        assertThat(with(key, "POST", "/volumes", "{\"name\": \"big\", \"sizeMB\": 6}")
                        .message())
                .contains("a volume of 6 MB does not fit into the API key's share of the disk, of which 5 MB of 10 MB");
        assertThat(with(key, "POST", "/volumes", "{\"name\": \"mine\", \"sizeMB\": 5}")
                        .status())
                .isEqualTo(201);
        assertThat(cay().call("GET", "/api-keys/%s/limits".formatted(id))
                        .json()
                        .get("use")
                        .toString())
                .isEqualTo("{\"sandboxes\":1,\"vcpus\":2,\"memoryMB\":512,\"diskMB\":10}");
        refused(with(key, "POST", "/sandboxes", CREATE), "the API key's share of the disk is full");
        String snapshots = "/sandboxes/%s/snapshots".formatted(mine);
        refused(with(key, "POST", snapshots, "{}"), "take 10 MB of 10 MB");
        refused(with(key, "POST", "/sandboxes/%s/fork".formatted(mine), "{}"), "take 10 MB of 10 MB");
        cay().create();

        restart();
        refused(with(key, "POST", "/sandboxes", CREATE), "the API key's share of the disk is full");
        assertThat(cay().call("DELETE", "/sandboxes/" + mine).status()).isEqualTo(204);
        TestServer.await(
                "there is room again",
                () -> with(key, "POST", "/sandboxes", CREATE).status() == 201);
    }

    /// A snapshot counts for the key that took it, of whichever sandbox.
    @Test
    default void snapshotsCountForTheKeyThatTookThem() throws Exception {
        String key = key("narrow", "{\"diskMB\": 100}");
        String others = cay().create();
        assertThat(with(key, "POST", "/sandboxes/%s/snapshots".formatted(others), "{}")
                        .status())
                .isEqualTo(201);
        assertThat(cay().call("POST", "/sandboxes/%s/snapshots".formatted(others), "{}")
                        .status())
                .isEqualTo(201);
        TestServer.await("the share", () -> cay().node.shares.size() == 1);
        assertThat(cay().node.shares.getFirst().sandboxes()).isEmpty();
        assertThat(cay().node.shares.getFirst().snapshots()).hasSize(1);
        var before = cay().node.shares;
        cay().node.shares = List.of();
        restart();
        TestServer.await("the share after a restart", () -> cay().node.shares.equals(before));
    }

    /// Until the next round of measuring, which is seconds later, it could write all that its own limit allows.
    @Test
    default void aNewSandboxGetsItsPartOfTheTeamsDiskBeforeAnybodyHearsOfIt() {
        limit("{\"diskMB\": 1000}");
        for (int i = 0; i < 10; i++) {
            String id = cay().create();
            assertThat(cay().node.shares)
                    .as("sandbox %d", i)
                    .anyMatch(share -> share.sandboxes().contains(new SandboxId(id)));
        }
    }
}
