package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Await;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.Saved;
import java.util.ArrayList;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/// A team has so many sandboxes at once and no more, however many requests come together.
interface SandboxLimitContract extends LimitCalls {
    @Test
    default void aTeamHasSoManySandboxesAtOnce() {
        limit("{\"sandboxes\": 2}");
        String one = cay().create();
        String two = cay().create();
        refused(cay().call("POST", "/sandboxes", CREATE), "may have 2 sandboxes at once");
        refused(cay().call("POST", "/v2/sandboxes", CREATE), "2 are in use");
        assertThat(cay().call("POST", "/sandboxes/%s/pause".formatted(one), "{}")
                        .status())
                .isEqualTo(204);
        String three = cay().create();
        refused(cay().call("POST", "/v2/sandboxes/%s/connect".formatted(one), "{}"), "2 sandboxes at once");
        assertThat(cay().call("GET", "/sandboxes/" + one).json().get("state").stringValue())
                .isEqualTo("paused");
        assertThat(cay().call("DELETE", "/sandboxes/" + three).status()).isEqualTo(204);
        assertThat(cay().call("POST", "/v2/sandboxes/%s/connect".formatted(one), "{}")
                        .status())
                .isEqualTo(201);
        // One that runs needs no place.
        assertThat(cay().call("POST", "/v2/sandboxes/%s/connect".formatted(two), "{}")
                        .status())
                .isEqualTo(200);
        var shown = cay().call("GET", "/limits").json();
        assertThat(shown.get("limits").get("sandboxes").intValue()).isEqualTo(2);
        assertThat(shown.get("use").get("sandboxes").intValue()).isEqualTo(2);
    }

    /// It holds memory of the machine for as long as it cannot be saved; one that is about to be saved does not count.
    @Test
    default void aPausedSandboxThatCannotBeSavedCounts() throws Exception {
        limit("{\"sandboxes\": 1}");
        cay().node.savesLater = true;
        String one = cay().create();
        assertThat(cay().call("POST", "/sandboxes/%s/pause".formatted(one), "{}")
                        .status())
                .isEqualTo(204);
        String two = cay().create();
        assertThat(cay().call("DELETE", "/sandboxes/" + two).status()).isEqualTo(204);

        var id = new SandboxId(one);
        cay().node.becomesSaved(id, Saved.notYet("a \"device\" cannot be saved"));
        awaitUse(1);
        refused(cay().call("POST", "/v2/sandboxes", CREATE), "may have 1 sandboxes at once");
        assertThat(cay().call("POST", "/v2/sandboxes/%s/connect".formatted(one), "{}")
                        .status())
                .as("it does not count twice")
                .isEqualTo(201);
        assertThat(cay().call("POST", "/sandboxes/%s/pause".formatted(one), "{}")
                        .status())
                .isEqualTo(204);
        cay().node.becomesSaved(id, Saved.filesOnly("\"frozen\":{\"reason\":"));
        awaitUse(0);
        cay().create();
    }

    private void awaitUse(int sandboxes) {
        Await.until(() -> "%d sandboxes count, now %d".formatted(sandboxes, use()), () -> use() == sandboxes);
    }

    private int use() {
        return cay().call("GET", "/limits").json().get("use").get("sandboxes").intValue();
    }

    @Test
    default void theLastPlaceIsGivenOnce() throws Exception {
        limit("{\"sandboxes\": 3}");
        var creates = new ArrayList<Callable<Integer>>();
        for (int i = 0; i < 24; i++) {
            creates.add(() -> cay().call("POST", "/v2/sandboxes", CREATE).status());
        }
        var statuses = new ArrayList<Integer>();
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (var status : threads.invokeAll(creates)) {
                statuses.add(status.get());
            }
        }
        assertThat(statuses).containsOnly(201, 429);
        assertThat(statuses).filteredOn(status -> status == 201).hasSize(3);
    }

    @Test
    default void forksCountOneByOne() {
        limit("{\"sandboxes\": 3}");
        String source = cay().create();
        var forks = cay().call("POST", "/sandboxes/%s/fork".formatted(source), "{\"count\": 4}")
                .json();
        assertThat(forks.values().stream().filter(fork -> fork.has("sandbox"))).hasSize(2);
        assertThat(forks.toString()).contains("may have 3 sandboxes at once");
    }

    @Test
    default void processorsAndMemoryAreAddedUp() {
        limit("{\"vcpus\": 5}");
        cay().create();
        cay().create();
        refused(
                cay().call("POST", "/sandboxes", CREATE),
                "5 vCPUs of running sandboxes: 4 are in use and this takes 2");
        limit("{\"vcpus\": null, \"memoryMB\": 1024}");
        refused(cay().call("POST", "/sandboxes", CREATE), "1024 MB of memory");
        limit("{\"memoryMB\": null}");
        cay().create();
    }

    /// The sandbox begins between the look for what the team has and the deletion.
    @Test
    default void aTeamIsNotDeletedUnderASandboxThatBegins() throws Exception {
        var made = cay().admin("POST", "/admin/teams", "{\"name\": \"brief\"}").json();
        String path = "/admin/teams/" + made.get("teamID").stringValue();
        String key = cay().admin("POST", path + "/api-keys", "{\"name\": \"k\"}")
                .json()
                .get("key")
                .stringValue();
        var reached = new CountDownLatch(1);
        var go = new CountDownLatch(1);
        cay().node.onCreate = _ -> hold(reached, go);
        var creating = CompletableFuture.supplyAsync(() -> with(key, "POST", "/sandboxes", CREATE));
        assertThat(reached.await(1, TimeUnit.MINUTES)).isTrue();
        var deleted = cay().admin("DELETE", path, "");
        go.countDown();
        assertThat(deleted.status()).isEqualTo(409);
        assertThat(deleted.message()).contains("being made");
        var created = creating.get(1, TimeUnit.MINUTES);
        assertThat(created.status()).isEqualTo(201);
        assertThat(with(
                                key,
                                "DELETE",
                                "/sandboxes/" + created.json().get("sandboxID").stringValue(),
                                "")
                        .status())
                .isEqualTo(204);
        var webhook = with(key, "POST", "/events/webhooks", """
                {"name": "w", "url": "https://receiver.example/x", "events": ["sandbox.lifecycle.created"],
                 "signatureSecret": "secret"}""");
        assertThat(webhook.status()).as(webhook.text()).isEqualTo(201);
        assertThat(cay().admin("DELETE", path, "").status()).isEqualTo(204);
        assertThat(cay().store
                        .<Integer>read(handle -> handle.createQuery("SELECT COUNT(*) FROM webhook")
                                .mapTo(Integer.class)
                                .one()))
                .as("webhooks that it left")
                .isZero();
    }

    /// It may be anywhere on its way.
    @Test
    default void noSandboxThatIsBeingMadeOutlivesTheEndOfAll() throws Exception {
        String source = cay().create();
        var reached = new CountDownLatch(2);
        var go = new CountDownLatch(1);
        cay().node.onCreate = _ -> hold(reached, go);
        cay().node.onSnapshot = _ -> hold(reached, go);
        var creating = CompletableFuture.supplyAsync(() -> cay().call("POST", "/sandboxes", CREATE));
        var forking = CompletableFuture.supplyAsync(
                () -> cay().call("POST", "/sandboxes/%s/fork".formatted(source), "{\"count\": 2}"));
        assertThat(reached.await(1, TimeUnit.MINUTES)).isTrue();
        var killed = cay().admin("POST", "/admin/teams/%s/sandboxes/kill".formatted(team()), "");
        go.countDown();
        assertThat(killed.json()).isEqualTo(cay().json("{\"killedCount\":1,\"failedCount\":0}"));
        var created = creating.get(1, TimeUnit.MINUTES);
        assertThat(created.status()).as(created.text()).isEqualTo(409);
        assertThat(created.message()).contains("all sandboxes of the team were ended");
        forking.get(1, TimeUnit.MINUTES);
        assertThat(cay().call("GET", "/v2/sandboxes").text()).isEqualTo("[]");
        TestServer.await("nothing runs", () -> cay().node.running.isEmpty());
        cay().node.onCreate = _ -> {};
        cay().create();
    }
}
