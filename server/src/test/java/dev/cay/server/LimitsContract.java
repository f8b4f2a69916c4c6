package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.server.store.Store;
import dev.cay.testing.Await;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.Saved;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// What is promised of limits, whatever engine the store has.
@Timeout(120)
abstract class LimitsContract {
    private static final String CREATE = "{\"templateID\": \"base\"}";

    @TempDir
    Path directory;

    TestServer cay;
    String team;

    /// The same records each time within one test.
    abstract Store open() throws Exception;

    /// Called before each test.
    void empty() throws Exception {}

    @BeforeEach
    final void start() throws Exception {
        empty();
        cay = TestServer.on(open(), directory, new FakeNode(), new FakeClock(), "");
        team = cay.admin("GET", "/admin/teams", "").json().get(0).get("teamID").stringValue();
    }

    @AfterEach
    final void stop() {
        cay.close();
    }

    private void limit(String limits) {
        var answer = cay.admin("PUT", "/admin/teams/%s/limits".formatted(team), limits);
        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
    }

    private String key(String name, String limits) {
        var made = cay.call("POST", "/api-keys", "{\"name\": \"%s\"}".formatted(name))
                .json();
        var set = cay.call("PUT", "/api-keys/%s/limits".formatted(made.get("id").stringValue()), limits);
        assertThat(set.status()).as(set.text()).isEqualTo(200);
        return made.get("key").stringValue();
    }

    private void restart() throws Exception {
        cay.close();
        cay = TestServer.on(open(), directory, cay.node, cay.clock, cay.key);
    }

    private TestServer.Answer with(String key, String method, String path, String body) {
        return cay.request(method, path, Map.of("X-API-Key", key), body);
    }

    private static void refused(TestServer.Answer answer, String part) {
        assertThat(answer.status()).as(answer.text()).isEqualTo(429);
        assertThat(answer.json().get("code").intValue()).isEqualTo(429);
        assertThat(answer.message()).contains(part);
        assertThat(answer.header("Retry-After")).matches("[1-9]\\d*");
    }

    @Test
    void aTeamHasSoManySandboxesAtOnce() {
        limit("{\"sandboxes\": 2}");
        String one = cay.create();
        String two = cay.create();
        refused(cay.call("POST", "/sandboxes", CREATE), "may have 2 sandboxes at once");
        refused(cay.call("POST", "/v2/sandboxes", CREATE), "2 are in use");
        assertThat(cay.call("POST", "/sandboxes/%s/pause".formatted(one), "{}").status())
                .isEqualTo(204);
        String three = cay.create();
        refused(cay.call("POST", "/v2/sandboxes/%s/connect".formatted(one), "{}"), "2 sandboxes at once");
        assertThat(cay.call("GET", "/sandboxes/" + one).json().get("state").stringValue())
                .isEqualTo("paused");
        assertThat(cay.call("DELETE", "/sandboxes/" + three).status()).isEqualTo(204);
        assertThat(cay.call("POST", "/v2/sandboxes/%s/connect".formatted(one), "{}")
                        .status())
                .isEqualTo(201);
        // One that runs needs no place.
        assertThat(cay.call("POST", "/v2/sandboxes/%s/connect".formatted(two), "{}")
                        .status())
                .isEqualTo(200);
        var shown = cay.call("GET", "/limits").json();
        assertThat(shown.get("limits").get("sandboxes").intValue()).isEqualTo(2);
        assertThat(shown.get("use").get("sandboxes").intValue()).isEqualTo(2);
    }

    /// It holds memory of the machine for as long as it cannot be saved; one that is about to be saved does not count.
    @Test
    void aPausedSandboxThatCannotBeSavedCounts() throws Exception {
        limit("{\"sandboxes\": 1}");
        cay.node.savesLater = true;
        String one = cay.create();
        assertThat(cay.call("POST", "/sandboxes/%s/pause".formatted(one), "{}").status())
                .isEqualTo(204);
        String two = cay.create();
        assertThat(cay.call("DELETE", "/sandboxes/" + two).status()).isEqualTo(204);

        var id = new SandboxId(one);
        cay.node.becomesSaved(id, Saved.notYet("a \"device\" cannot be saved"));
        awaitUse(1);
        refused(cay.call("POST", "/v2/sandboxes", CREATE), "may have 1 sandboxes at once");
        assertThat(cay.call("POST", "/v2/sandboxes/%s/connect".formatted(one), "{}")
                        .status())
                .as("it does not count twice")
                .isEqualTo(201);
        assertThat(cay.call("POST", "/sandboxes/%s/pause".formatted(one), "{}").status())
                .isEqualTo(204);
        cay.node.becomesSaved(id, Saved.filesOnly("\"frozen\":{\"reason\":"));
        awaitUse(0);
        cay.create();
    }

    private void awaitUse(int sandboxes) {
        Await.until(() -> "%d sandboxes count, now %d".formatted(sandboxes, use()), () -> use() == sandboxes);
    }

    private int use() {
        return cay.call("GET", "/limits").json().get("use").get("sandboxes").intValue();
    }

    @Test
    void theLastPlaceIsGivenOnce() throws Exception {
        limit("{\"sandboxes\": 3}");
        var creates = new ArrayList<Callable<Integer>>();
        for (int i = 0; i < 24; i++) {
            creates.add(() -> cay.call("POST", "/v2/sandboxes", CREATE).status());
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
    void forksCountOneByOne() {
        limit("{\"sandboxes\": 3}");
        String source = cay.create();
        var forks = cay.call("POST", "/sandboxes/%s/fork".formatted(source), "{\"count\": 4}")
                .json();
        assertThat(forks.values().stream().filter(fork -> fork.has("sandbox"))).hasSize(2);
        assertThat(forks.toString()).contains("may have 3 sandboxes at once");
    }

    @Test
    void processorsAndMemoryAreAddedUp() {
        limit("{\"vcpus\": 5}");
        cay.create();
        cay.create();
        refused(cay.call("POST", "/sandboxes", CREATE), "5 vCPUs of running sandboxes: 4 are in use and this takes 2");
        limit("{\"vcpus\": null, \"memoryMB\": 1024}");
        refused(cay.call("POST", "/sandboxes", CREATE), "1024 MB of memory");
        limit("{\"memoryMB\": null}");
        cay.create();
    }

    @Test
    void onlySoManyAreCreatedPerSecond() {
        limit("{\"createsPerSecond\": 2}");
        var statuses = new ArrayList<Integer>();
        TestServer.Answer last = null;
        for (int i = 0; i < 100 && (last == null || last.status() != 429); i++) {
            last = cay.call("POST", "/sandboxes", CREATE);
            statuses.add(last.status());
        }
        refused(last, "may create 2 sandboxes per second");
        assertThat(last.header("Retry-After")).isEqualTo("1");
        // Other requests go on.
        assertThat(cay.call("GET", "/v2/sandboxes").status()).isEqualTo(200);
    }

    @Test
    void requestsAreCountedPerTeam() {
        limit("{\"apiCallsPer30s\": 20}");
        TestServer.Answer last = null;
        for (int i = 0; i < 100 && (last == null || last.status() != 429); i++) {
            last = cay.call("GET", "/v2/sandboxes");
        }
        refused(last, "20 requests to the API in 30 seconds");
        assertThat(Integer.parseInt(last.header("Retry-After"))).isBetween(1, 2);
        String foreign = cay.keyOfAnotherTeam();
        assertThat(with(foreign, "GET", "/v2/sandboxes", "").status()).isEqualTo(200);
        // The operator is not held up, and can raise the limit.
        limit("{\"profile\": \"none\"}");
        assertThat(cay.call("GET", "/v2/sandboxes").status()).isEqualTo(200);
    }

    @Test
    void requestsToSandboxesAreCountedForTheirOwner() {
        String sandbox = cay.create();
        String token = cay.call("GET", "/sandboxes/" + sandbox)
                .json()
                .get("envdAccessToken")
                .stringValue();
        limit("{\"operationsPerMinute\": 10}");
        var last = untilRefused(sandbox, "49983", Map.of("X-Access-Token", token));
        assertThat(last.text()).contains("10 requests to its sandboxes in a minute");
        assertThat(Integer.parseInt(last.header("Retry-After")))
                .as("a tenth of a minute")
                .isBetween(2, 6);
    }

    @Test
    void requestsToSandboxesThatAKeyCreatedAreCountedForTheKey() throws Exception {
        String narrow = key("narrow", "{\"operationsPerMinute\": 2}");
        String own = with(narrow, "POST", "/v2/sandboxes", "{\"templateID\": \"base\"}")
                .json()
                .get("sandboxID")
                .stringValue();
        String second = with(narrow, "POST", "/v2/sandboxes", "{\"templateID\": \"base\"}")
                .json()
                .get("sandboxID")
                .stringValue();
        String other = cay.create();
        restart();
        assertThat(untilRefused(own, "49983", Map.of("X-Access-Token", token(own)))
                        .text())
                .contains("the API key that created the sandbox may send 2 requests");
        // They share the count, and a sandbox that another key made has none.
        assertThat(ask(second, "49983", Map.of("X-Access-Token", token(second))).status())
                .isEqualTo(429);
        assertThat(untilRefused(own, "8080", Map.of()).text()).contains("this sandbox may get 2 requests");
        for (int i = 0; i < 30; i++) {
            assertThat(ask(other, "49983", Map.of("X-Access-Token", token(other)))
                            .status())
                    .isEqualTo(200);
        }
        // What the team has no room for takes nothing from the key.
        limit("{\"operationsPerMinute\": 1}");
        assertThat(untilRefused(other, "49983", Map.of("X-Access-Token", token(other)))
                        .text())
                .contains("may send 1 requests")
                .doesNotContain("API key");
    }

    private String token(String sandbox) {
        return cay.call("GET", "/sandboxes/" + sandbox)
                .json()
                .get("envdAccessToken")
                .stringValue();
    }

    @Test
    void buildsThatAKeyAskedForAreCountedForTheKeyAndTheOneThatTakesItsPlace() throws Exception {
        String narrow = key("narrow", "{\"builds\": 1}");
        var build = with(narrow, "POST", "/v3/templates", "{\"name\": \"narrow\"}");
        assertThat(build.status()).as(build.text()).isEqualTo(202);
        restart();
        refused(with(narrow, "POST", "/v3/templates", "{\"name\": \"more\"}"), "1 builds of this API key");
        refused(with(narrow, "POST", "/v2/templates", "{\"name\": \"more\"}"), "1 builds of this API key");
        assertThat(cay.call("POST", "/v3/templates", "{\"name\": \"more\"}").status())
                .isEqualTo(202);
        String id = cay.call("GET", "/api-keys").json().values().stream()
                .filter(key -> key.get("name").stringValue().equals("narrow"))
                .findFirst()
                .orElseThrow()
                .get("id")
                .stringValue();
        String next = cay.call("POST", "/api-keys/%s/rotate".formatted(id), "{\"overlapSeconds\": 60}")
                .json()
                .get("key")
                .stringValue();
        refused(with(next, "POST", "/v3/templates", "{\"name\": \"another\"}"), "1 builds of this API key");
        cay.admin("POST", "/admin/teams/%s/builds/cancel".formatted(team), "");
        assertThat(with(next, "POST", "/v3/templates", "{\"name\": \"another\"}")
                        .status())
                .isEqualTo(202);
    }

    /// Addresses of sandboxes are in links and logs.
    @Test
    void whoKnowsTheAddressOfASandboxDoesNotUseUpWhatTheTeamMayDo() {
        String known = cay.create();
        String other = cay.create();
        String token = cay.call("GET", "/sandboxes/" + known)
                .json()
                .get("envdAccessToken")
                .stringValue();
        limit("{\"operationsPerMinute\": 10}");
        assertThat(untilRefused(known, "8080", Map.of()).text()).contains("this sandbox may get 10 requests");
        assertThat(untilRefused(known, "49983", Map.of("X-Access-Token", "guessed"))
                        .text())
                .contains("this sandbox may get 10 requests");
        assertThat(ask(known, "49983", Map.of("X-Access-Token", token)).status())
                .isEqualTo(200);
        assertThat(ask(other, "8080", Map.of()).status()).isEqualTo(200);
    }

    private TestServer.Answer ask(String sandbox, String port, Map<String, String> headers) {
        var all = new HashMap<>(headers);
        all.put("E2b-Sandbox-Id", sandbox);
        all.put("E2b-Sandbox-Port", port);
        return cay.request("GET", "/", all, "");
    }

    private TestServer.Answer untilRefused(String sandbox, String port, Map<String, String> headers) {
        for (int i = 0; i < 100; i++) {
            var answer = ask(sandbox, port, headers);
            if (answer.status() == 429) {
                return answer;
            }
        }
        throw new AssertionError("100 requests were not refused");
    }

    /// The sandbox begins between the look for what the team has and the deletion.
    @Test
    void aTeamIsNotDeletedUnderASandboxThatBegins() throws Exception {
        var made = cay.admin("POST", "/admin/teams", "{\"name\": \"brief\"}").json();
        String path = "/admin/teams/" + made.get("teamID").stringValue();
        String key = cay.admin("POST", path + "/api-keys", "{\"name\": \"k\"}")
                .json()
                .get("key")
                .stringValue();
        var reached = new CountDownLatch(1);
        var go = new CountDownLatch(1);
        cay.node.onCreate = _ -> {
            reached.countDown();
            try {
                go.await(20, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        };
        var creating = CompletableFuture.supplyAsync(() -> with(key, "POST", "/sandboxes", CREATE));
        assertThat(reached.await(10, TimeUnit.SECONDS)).isTrue();
        var deleted = cay.admin("DELETE", path, "");
        go.countDown();
        assertThat(deleted.status()).isEqualTo(409);
        assertThat(deleted.message()).contains("being made");
        var created = creating.get(20, TimeUnit.SECONDS);
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
        assertThat(cay.admin("DELETE", path, "").status()).isEqualTo(204);
        assertThat(cay.store.<Integer>read(handle -> handle.createQuery("SELECT COUNT(*) FROM webhook")
                        .mapTo(Integer.class)
                        .one()))
                .as("webhooks that it left")
                .isZero();
    }

    @Test
    void aKeyHasLimitsOfItsOwn() {
        String narrow = key("narrow", "{\"sandboxes\": 1, \"apiCallsPer30s\": 50}");
        assertThat(with(narrow, "POST", "/sandboxes", CREATE).status()).isEqualTo(201);
        refused(with(narrow, "POST", "/sandboxes", CREATE), "this API key may have 1 sandboxes at once");
        // Those of another key of the team do not count for it.
        cay.create();
        TestServer.Answer last = null;
        for (int i = 0; i < 100 && (last == null || last.status() != 429); i++) {
            last = with(narrow, "GET", "/v2/sandboxes", "");
        }
        refused(last, "the API key 'narrow' may send 50 requests");
        assertThat(cay.call("GET", "/v2/sandboxes").status()).isEqualTo(200);
    }

    @Test
    void aLimitedKeyCannotGetPastItsLimits() {
        String narrow = key("narrow", "{\"sandboxes\": 1}");
        String id = cay.call("GET", "/api-keys").json().values().stream()
                .filter(key -> key.get("name").stringValue().equals("narrow"))
                .map(key -> key.get("id").stringValue())
                .findFirst()
                .orElseThrow();
        for (var attempt : List.of(
                with(narrow, "POST", "/api-keys", "{\"name\": \"wider\"}"),
                with(narrow, "POST", "/api-keys/%s/rotate".formatted(id), "{}"),
                with(narrow, "PUT", "/api-keys/%s/limits".formatted(id), "{\"sandboxes\": null}"))) {
            assertThat(attempt.status()).as(attempt.text()).isEqualTo(403);
        }
        String fresh = cay.call("POST", "/api-keys/%s/rotate".formatted(id), "{}")
                .json()
                .get("key")
                .stringValue();
        assertThat(with(fresh, "POST", "/sandboxes", CREATE).status()).isEqualTo(201);
        refused(with(fresh, "POST", "/sandboxes", CREATE), "1 sandboxes at once");
    }

    /// Otherwise it would have twice as much for as long as both are good, and again after each rotation.
    @Test
    void aKeyThatTakesThePlaceOfAnotherSharesItsLimits() throws Exception {
        String old = key("narrow", "{\"sandboxes\": 2}");
        String id = idOf("narrow");
        assertThat(with(old, "POST", "/sandboxes", CREATE).status()).isEqualTo(201);
        String rotate = "/api-keys/%s/rotate".formatted(id);
        String fresh = cay.call("POST", rotate, "{\"overlapSeconds\": 600}")
                .json()
                .get("key")
                .stringValue();
        assertThat(with(fresh, "POST", "/sandboxes", CREATE).status()).isEqualTo(201);
        for (int run = 0; run < 2; run++) {
            refused(with(fresh, "POST", "/sandboxes", CREATE), "2 sandboxes at once");
            refused(with(old, "POST", "/sandboxes", CREATE), "2 sandboxes at once");
            cay.close();
            cay = TestServer.on(open(), directory, cay.node, cay.clock, cay.key);
        }
        assertThat(cay.call("DELETE", "/api-keys/" + id).status()).isEqualTo(204);
        refused(with(fresh, "POST", "/sandboxes", CREATE), "2 sandboxes at once");
    }

    private String idOf(String name) {
        return cay.call("GET", "/api-keys").json().values().stream()
                .filter(key -> key.get("name").stringValue().equals(name))
                .map(key -> key.get("id").stringValue())
                .findFirst()
                .orElseThrow();
    }

    @Test
    void whatARevokedKeyMadeIsNotHeldToItsLimits() {
        String narrow = key("narrow", "{\"sandboxes\": 1}");
        String one = with(narrow, "POST", "/sandboxes", CREATE)
                .json()
                .get("sandboxID")
                .stringValue();
        assertThat(cay.call("POST", "/sandboxes/%s/pause".formatted(one), "{}").status())
                .isEqualTo(204);
        assertThat(with(narrow, "POST", "/sandboxes", CREATE).status()).isEqualTo(201);
        String connect = "/v2/sandboxes/%s/connect".formatted(one);
        refused(cay.call("POST", connect, "{}"), "this API key may have 1 sandboxes at once");
        assertThat(cay.call("DELETE", "/api-keys/" + idOf("narrow")).status()).isEqualTo(204);
        assertThat(cay.call("POST", connect, "{}").status()).isEqualTo(201);
    }

    @Test
    void requestsThatAKeyMayNotSendCount() {
        String reader = cay.call("POST", "/api-keys", "{\"name\": \"r\", \"scope\": \"read\"}")
                .json()
                .get("key")
                .stringValue();
        limit("{\"apiCallsPer30s\": 20}");
        TestServer.Answer last = null;
        for (int i = 0; i < 100 && (last == null || last.status() != 429); i++) {
            last = with(reader, "POST", "/sandboxes", CREATE);
            assertThat(last.status()).isIn(403, 429);
        }
        refused(last, "20 requests to the API in 30 seconds");
    }

    /// Its client asks again because it got no answer.
    @Test
    void aRepetitionOfACreateIsNoCreate() {
        limit("{\"createsPerSecond\": 1}");
        String id = "";
        for (int i = 0; i < 20; i++) {
            var made = cay.call("POST", "/v2/sandboxes", CREATE, "Idempotency-Key", "one");
            assertThat(made.status()).as(made.text()).isEqualTo(201);
            String now = made.json().get("sandboxID").stringValue();
            assertThat(id.isEmpty() ? now : id).isEqualTo(now);
            id = now;
        }
    }

    /// What sandboxes hold is read every few seconds, and volumes are made meanwhile.
    @Test
    void volumesNeverTakeMoreThanIsLeftOfTheShare() {
        cay.node.diskUsed = 4 << 20;
        limit("{\"diskMB\": 10}");
        cay.create();
        assertThat(volume("one", 3).status()).isEqualTo(201);
        assertThat(volume("two", 3).status()).isEqualTo(201);
        refused(volume("three", 3), "10 MB of 10 MB are taken");
        refused(cay.call("POST", "/sandboxes", CREATE), "take 10 MB of 10 MB");
    }

    @Test
    void aShareThatVolumesFillTakesNoSandbox() {
        limit("{\"diskMB\": 10}");
        assertThat(volume("one", 10).status()).isEqualTo(201);
        refused(cay.call("POST", "/sandboxes", CREATE), "take 10 MB of 10 MB");
        assertThat(cay.call("GET", "/limits").json().get("use").get("diskMB").longValue())
                .isEqualTo(10);
    }

    private TestServer.Answer volume(String name, int megabytes) {
        return cay.call("POST", "/volumes", "{\"name\": \"%s\", \"sizeMB\": %d}".formatted(name, megabytes));
    }

    /// Nobody has looked yet what the team holds.
    @Test
    void aShareThatWasJustGivenIsFullAtOnce() {
        cay.node.diskUsed = 10 << 20;
        cay.create();
        limit("{\"diskMB\": 10}");
        refused(cay.call("POST", "/sandboxes", CREATE), "share of the disk is full");
    }

    /// What a snapshot takes is known when it is there.
    @Test
    void snapshotsOfATeamWithAShareAreTakenOneAfterTheOther() throws Exception {
        limit("{\"diskMB\": 10}");
        String id = cay.create();
        var under = new AtomicInteger();
        cay.node.onSnapshot = _ -> {
            assertThat(under.incrementAndGet()).isEqualTo(1);
            cay.node.diskUsed = 10 << 20;
            under.decrementAndGet();
        };
        var takes = new ArrayList<Callable<TestServer.Answer>>();
        for (int i = 0; i < 5; i++) {
            takes.add(() -> cay.call("POST", "/sandboxes/%s/snapshots".formatted(id), "{}"));
        }
        var statuses = new ArrayList<Integer>();
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (var answer : threads.invokeAll(takes)) {
                statuses.add(answer.get().status());
            }
        }
        assertThat(statuses).containsExactlyInAnyOrder(201, 429, 429, 429, 429);
    }

    /// It may be anywhere on its way.
    @Test
    void noSandboxThatIsBeingMadeOutlivesTheEndOfAll() throws Exception {
        String source = cay.create();
        var reached = new CountDownLatch(2);
        var go = new CountDownLatch(1);
        Runnable hold = () -> {
            reached.countDown();
            try {
                go.await(20, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        };
        cay.node.onCreate = _ -> hold.run();
        cay.node.onSnapshot = _ -> hold.run();
        var creating = CompletableFuture.supplyAsync(() -> cay.call("POST", "/sandboxes", CREATE));
        var forking = CompletableFuture.supplyAsync(
                () -> cay.call("POST", "/sandboxes/%s/fork".formatted(source), "{\"count\": 2}"));
        assertThat(reached.await(10, TimeUnit.SECONDS)).isTrue();
        var killed = cay.admin("POST", "/admin/teams/%s/sandboxes/kill".formatted(team), "");
        go.countDown();
        assertThat(killed.json()).isEqualTo(cay.json("{\"killedCount\":1,\"failedCount\":0}"));
        var created = creating.get(20, TimeUnit.SECONDS);
        assertThat(created.status()).as(created.text()).isEqualTo(409);
        assertThat(created.message()).contains("all sandboxes of the team were ended");
        forking.get(20, TimeUnit.SECONDS);
        assertThat(cay.call("GET", "/v2/sandboxes").text()).isEqualTo("[]");
        TestServer.await("nothing runs", () -> cay.node.running.isEmpty());
        cay.node.onCreate = _ -> {};
        cay.create();
    }

    @Test
    void limitsOutliveARestart() throws Exception {
        limit("{\"sandboxes\": 1}");
        String narrow = key("narrow", "{\"createsPerSecond\": 1}");
        cay.create();
        restart();
        refused(cay.call("POST", "/sandboxes", CREATE), "1 sandboxes at once");
        limit("{\"sandboxes\": null}");
        TestServer.Answer last = null;
        for (int i = 0; i < 100 && (last == null || last.status() != 429); i++) {
            last = with(narrow, "POST", "/sandboxes", CREATE);
        }
        refused(last, "may create 1 sandboxes per second");
    }

    @Test
    void aFullShareOfTheDiskTakesNoMore() {
        limit("{\"diskMB\": 10}");
        String one = cay.create();
        String two = cay.create();
        assertThat(cay.call("POST", "/sandboxes/%s/pause".formatted(two), "{}").status())
                .isEqualTo(204);
        TestServer.await(
                "the share",
                () -> cay.node.shares.stream()
                        .anyMatch(share ->
                                share.bytes() == 10 << 20 && share.sandboxes().size() == 2));
        cay.node.diskUsed = 5 << 20;
        TestServer.await(
                "what the team holds is known",
                () -> cay.call("GET", "/limits").json().get("use").get("diskMB").longValue() == 10);
        refused(
                cay.call("POST", "/sandboxes", CREATE),
                "take 10 MB of 10 MB; kill sandboxes, delete snapshots or volumes");
        refused(cay.call("POST", "/sandboxes/%s/snapshots".formatted(one), "{}"), "share of the disk is full");
        // What is there can be reached and removed.
        assertThat(cay.call("POST", "/v2/sandboxes/%s/connect".formatted(two), "{}")
                        .status())
                .isEqualTo(201);
        assertThat(cay.call("DELETE", "/sandboxes/" + two).status()).isEqualTo(204);
        TestServer.await(
                "what the team holds is known",
                () -> cay.call("GET", "/limits").json().get("use").get("diskMB").longValue() == 5);
        cay.create();
    }

    /// Until the next round of measuring, which is seconds later, it could write all that its own limit allows.
    @Test
    void aNewSandboxGetsItsPartOfTheTeamsDiskBeforeAnybodyHearsOfIt() {
        limit("{\"diskMB\": 1000}");
        for (int i = 0; i < 10; i++) {
            String id = cay.create();
            assertThat(cay.node.shares)
                    .as("sandbox %d", i)
                    .anyMatch(share -> share.sandboxes().contains(new SandboxId(id)));
        }
    }

    @Test
    void profilesAreStartingPoints() {
        limit("{\"profile\": \"pro\", \"sandboxes\": 200, \"diskMB\": 50000}");
        var limits = cay.call("GET", "/limits").json();
        assertThat(limits.get("source").stringValue()).isEqualTo("team");
        assertThat(limits.get("limits").toString())
                .isEqualTo(
                        "{\"sandboxes\":200,\"vcpus\":null,\"memoryMB\":null,\"diskMB\":50000,\"builds\":20,\"createsPerSecond\":5,\"apiCallsPer30s\":20000,\"operationsPerMinute\":40000}");
        assertThat(cay.admin("DELETE", "/admin/teams/%s/limits".formatted(team), "")
                        .status())
                .isEqualTo(204);
        assertThat(cay.call("GET", "/limits").json().get("source").stringValue())
                .isEqualTo("default");
    }

    @Test
    void wrongLimitsAreRefusedByName() {
        String path = "/admin/teams/%s/limits".formatted(team);
        wrong(path, "{\"sandboxes\": 0}", "'sandboxes' must be at least 1, or null for no limit");
        wrong(path, "{\"sandboxes\": \"many\"}", "'sandboxes' must be a whole number");
        wrong(path, "{\"sandbox\": 3}", "'sandbox' is not known here");
        wrong(path, "{\"profile\": \"gold\"}", "'profile' must be none, hobby or pro");
        var made = cay.call("POST", "/api-keys", "{\"name\": \"k\"}").json();
        String ofKey = "/api-keys/%s/limits".formatted(made.get("id").stringValue());
        assertThat(cay.call("PUT", ofKey, "{\"diskMB\": 5}").message())
                .contains("a limit of teams", "a team of its own");
    }

    private void wrong(String path, String body, String part) {
        var answer = cay.admin("PUT", path, body);
        assertThat(answer.status()).isEqualTo(400);
        assertThat(answer.message()).contains(part);
    }
}
