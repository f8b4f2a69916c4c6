package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.server.template.Origin;
import dev.cay.testing.Fast;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.Resources;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Copies of running sandboxes, and ways back to what they were.
@Fast
final class ForkTest extends ServerTest {
    @Test
    void aForkIsLikeItsSourceAndTheSourceStaysAsItIs() {
        String id = create("""
                "timeout":1000,"metadata":{"a":"b"},"envVars":{"A":"1"},"autoPause":true,"autoResume":{"enabled":true},
                "allow_internet_access":false,"network":{"allowPublicTraffic":false}
                """);
        String before = info(id).toString();
        cay.clock.pass(Duration.ofSeconds(5));
        var answer = cay.call("POST", "/sandboxes/" + id + "/fork");
        assertThat(answer.status()).isEqualTo(201);
        assertThat(answer.json().size()).isEqualTo(1);
        var fork = answer.json().get(0).get("sandbox");
        assertThat(answer.json().get(0).has("error")).isFalse();
        String copy = fork.get("sandboxID").stringValue();
        assertThat(copy).isNotEqualTo(id);
        assertThat(fork.get("envdAccessToken").stringValue())
                .isNotEqualTo(info(id).get("envdAccessToken").stringValue());
        assertThat(fork.get("trafficAccessToken").isString()).isTrue();

        var detail = info(copy);
        for (String same : new String[] {
            "templateID", "metadata", "network", "lifecycle", "memoryMB", "cpuCount", "allowInternetAccess"
        }) {
            assertThat(detail.get(same)).as(same).isEqualTo(info(id).get(same));
        }
        assertThat(detail.get("startedAt").stringValue()).isEqualTo("2026-09-21T10:00:05Z");
        assertThat(detail.get("endAt").stringValue()).as("five minutes").isEqualTo("2026-09-21T10:05:05Z");
        var spec = cay.node.running.get(new SandboxId(copy));
        assertThat(spec.snapshot()).isNotNull();
        assertThat(spec.environment()).containsOnlyKeys("E2B_TEAM_ID");
        assertThat(spec.egress().internet()).isFalse();

        assertThat(info(id).toString()).isEqualTo(before);
        assertThat(story(id)).containsExactly("create", "checkpoint");
        assertThat(story(copy)).containsExactly("resume");
        assertThat(cay.node.calls).contains("snapshot " + id + " MEMORY");
        assertThat(cay.node.snapshots()).as("deleted again").isEmpty();
    }

    @Test
    void manyForksAreMadeFromOneSnapshot() {
        String id = cay.create();
        var answer = cay.call("POST", "/sandboxes/" + id + "/fork", "{\"count\":100,\"timeout\":60}");
        assertThat(answer.status()).isEqualTo(201);
        var ids = new HashSet<String>();
        answer.json()
                .forEach(each -> ids.add(each.get("sandbox").get("sandboxID").stringValue()));
        assertThat(ids).hasSize(100).doesNotContain(id);
        assertThat(cay.node.count("snapshot")).isEqualTo(1);
        assertThat(cay.server.running()).isEqualTo(101);
        assertThat(info(ids.iterator().next()).get("endAt").stringValue()).isEqualTo("2026-09-21T10:01:00Z");
        assertThat(story(id)).containsExactly("create", "checkpoint");
    }

    @Test
    void aForkThatFailsIsToldBesideThoseThatDoNot() {
        String id = cay.create();
        var calls = new AtomicInteger();
        cay.node.onCreate = spec -> {
            if (calls.incrementAndGet() == 2) {
                throw new CayException(ErrorKind.UNAVAILABLE, "this machine has no room");
            }
        };
        var answer = cay.call("POST", "/sandboxes/" + id + "/fork", "{\"count\":3}");
        assertThat(answer.status()).isEqualTo(201);
        assertThat(answer.json().values().stream().filter(each -> each.has("sandbox")))
                .hasSize(2);
        var failed = answer.json().values().stream()
                .filter(each -> each.has("error"))
                .toList();
        assertThat(failed).hasSize(1);
        assertThat(failed.getFirst().toString())
                .isEqualTo("{\"error\":{\"code\":503,\"message\":\"this machine has no room\"}}");
        assertThat(cay.node.running).hasSize(3);
        assertThat(cay.node.snapshots()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
            {"count":0}       | count
            {"count":101}     | count
            {"count":"1"}     | count
            {"timeout":0}     | Timeout
            {"timeout":86401} | Timeout
            """)
    void refusesWhatMakesNoSense(String body, String part) {
        String id = cay.create();
        var answer = cay.call("POST", "/sandboxes/" + id + "/fork", body);
        assertThat(answer.status()).isEqualTo(400);
        assertThat(answer.message()).contains(part);
        assertThat(cay.node.count("snapshot")).isZero();
    }

    @Test
    void whatIsPausedGoneOrUnsavableIsNotForked() {
        String id = cay.create();
        cay.node.unsavable = "a device";
        assertThat(cay.call("POST", "/sandboxes/" + id + "/fork").status()).isEqualTo(422);
        assertThat(story(id)).containsExactly("create");
        cay.node.unsavable = null;
        pause(id, "");
        assertThat(cay.call("POST", "/sandboxes/" + id + "/fork").status()).isEqualTo(409);
        cay.call("DELETE", "/sandboxes/" + id);
        assertThat(cay.call("POST", "/sandboxes/" + id + "/fork").status()).isEqualTo(404);
    }

    @Test
    void aCrashInTheMiddleLeavesNeitherTheSnapshotNorHalfAFork() throws Exception {
        String id = cay.create();
        var reached = new CountDownLatch(1);
        var go = new CountDownLatch(1);
        cay.node.onCreate = spec -> hold(reached, go);
        var died = cay;
        var caller = Thread.startVirtualThread(() -> {
            try {
                died.call("POST", "/sandboxes/" + id + "/fork");
            } catch (AssertionError e) {
                // its server is taken away
            }
        });
        assertThat(reached.await(1, TimeUnit.MINUTES)).isTrue();
        assertThat(cay.node.snapshots()).hasSize(1);
        try (var next = TestServer.again(directory, died)) {
            assertThat(next.node.snapshots()).isEmpty();
            assertThat(next.server.running()).isEqualTo(1);
            assertThat(next.node.running).containsOnlyKeys(new SandboxId(id));
        }
        go.countDown();
        assertThat(caller.join(Duration.ofMinutes(1))).isTrue();
    }

    @Test
    void aSandboxOfAnOlderCayIsForkedAsLongAsItsTemplateIsTheSame() throws Exception {
        String id = cay.create();
        cay.close();
        cay = TestServer.again(
                directory,
                cay,
                store -> store.write(handle -> handle.execute("UPDATE sandbox SET lifecycle = NULL, origin = NULL")));
        assertThat(info(id).get("lifecycle").get("onTimeout").stringValue()).isEqualTo("kill");
        assertThat(cay.call("POST", "/sandboxes/" + id + "/fork").status()).isEqualTo(201);
        cay.server
                .templates()
                .register("base", new Resources(2, 512, 10240), new Origin(List.of("layer2"), "user", null), null);
        var answer = cay.call("POST", "/sandboxes/" + id + "/fork");
        assertThat(answer.status()).isEqualTo(409);
        assertThat(answer.message()).contains("made by an older Cay");
    }

    @Test
    void aRunningSandboxGoesBackAndKeepsItsTime() {
        String id = create("\"timeout\":1000");
        String snapshot = snapshot(id);
        cay.clock.pass(Duration.ofSeconds(100));
        var answer = rollback(id, snapshot);
        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.json().get("sandboxID").stringValue()).isEqualTo(id);
        assertThat(cay.node.count("rollback " + id)).isEqualTo(1);
        assertThat(info(id).get("endAt").stringValue()).isEqualTo("2026-09-21T10:16:40Z");
        assertThat(info(id).get("startedAt").stringValue()).isEqualTo("2026-09-21T10:01:40Z");
        assertThat(story(id)).containsExactly("create", "checkpoint", "resume");
        assertThat(rollback(id, snapshot).status()).as("as often as wanted").isEqualTo(200);
    }

    @Test
    void aPausedSandboxGoesBackAndBeginsItsTimeAgain() {
        String id = cay.create();
        String snapshot = snapshot(id);
        pause(id, "");
        cay.clock.pass(Duration.ofHours(1));
        assertThat(rollback(id, snapshot).status()).isEqualTo(200);
        assertThat(state(id)).isEqualTo("running");
        assertThat(info(id).get("endAt").stringValue()).isEqualTo("2026-09-21T11:05:00Z");
        assertThat(story(id)).containsExactly("create", "checkpoint", "pause", "resume");
    }

    @ParameterizedTest
    @CsvSource({"running", "paused"})
    void aWayBackThatFailsLeavesItAsItWas(String state) {
        String id = cay.create();
        String snapshot = snapshot(id);
        if (state.equals("paused")) {
            pause(id, "");
        }
        var before = info(id);
        var story = story(id);
        cay.node.onRollback = _ -> {
            throw new CayException(ErrorKind.NOT_RESTORED, "not here");
        };
        cay.clock.pass(Duration.ofSeconds(1));
        assertThat(rollback(id, snapshot).status()).isEqualTo(422);
        assertThat(info(id)).isEqualTo(before);
        assertThat(story(id)).isEqualTo(story);
    }

    @Test
    void onlyASnapshotOfItsOwnIsAWayBack() {
        String id = cay.create();
        String other = snapshot(cay.create());
        var answer = rollback(id, other);
        assertThat(answer.status()).isEqualTo(409);
        assertThat(answer.message()).contains("is not a snapshot of sandbox " + id);
        assertThat(rollback(id, "base").status()).isEqualTo(409);
        assertThat(rollback(id, "nothing").status()).isEqualTo(404);
        assertThat(rollback("inothing", other).status()).isEqualTo(404);
        assertThat(cay.call("POST", "/sandboxes/" + id + "/rollback", "{}").status())
                .isEqualTo(400);
        assertThat(cay.node.count("rollback")).isZero();
    }

    private String snapshot(String id) {
        return cay.call("POST", "/sandboxes/" + id + "/snapshots", "{}")
                .json()
                .get("snapshotID")
                .stringValue();
    }

    private TestServer.Answer rollback(String id, String snapshot) {
        return cay.call("POST", "/sandboxes/" + id + "/rollback", "{\"snapshotID\":\"" + snapshot + "\"}");
    }
}
