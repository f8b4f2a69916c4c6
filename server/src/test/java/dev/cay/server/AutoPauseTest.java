package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// What happens when the time of a sandbox is over, running or paused.
@Fast
final class AutoPauseTest extends ServerTest {
    @Test
    void pausesWhatItsCreatorWantedPaused() {
        String id = create("\"timeout\":10,\"autoPause\":true");
        String other = create("\"timeout\":10");
        assertThat(info(id).get("lifecycle").toString()).isEqualTo("{\"autoResume\":false,\"onTimeout\":\"pause\"}");
        assertThat(info(other).get("lifecycle").toString()).isEqualTo("{\"autoResume\":false,\"onTimeout\":\"kill\"}");
        cay.clock.pass(Duration.ofSeconds(11));
        TestServer.await(
                "both to be seen to",
                () -> cay.node.running.isEmpty() && story(id).size() == 2);
        assertThat(state(id)).isEqualTo("paused");
        assertThat(info(id).get("endAt").stringValue()).isEqualTo("2026-09-21T10:00:11Z");
        assertThat(cay.node.calls).contains("pause " + id + " MEMORY_IF_POSSIBLE");
        assertThat(story(id)).containsExactly("create", "pause");
        assertThat(cay.call("GET", "/sandboxes/" + other).status()).isEqualTo(404);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -3})
    void noTimeoutPausesWhatItsCreatorWantedPaused(int timeout) {
        String id = create("\"timeout\":300,\"autoPause\":true");
        assertThat(cay.call("POST", "/sandboxes/" + id + "/timeout", "{\"timeout\":" + timeout + "}")
                        .status())
                .isEqualTo(204);
        TestServer.await("its pause", () -> !cay.node.running.containsKey(new SandboxId(id)));
        TestServer.await("the record of it", () -> story(id).contains("pause"));
        assertThat(state(id)).isEqualTo("paused");
        assertThat(story(id)).containsExactly("create", "update", "pause");
    }

    @Test
    void pausesBeforeTheMachineGoesDownWhatMayBePaused() {
        String pausable = create("\"autoPause\":true");
        String stubborn = create("\"autoPause\":true");
        String other = create("\"timeout\":10");
        cay.node.onPause = id -> {
            if (id.value().equals(stubborn)) {
                throw new CayException(ErrorKind.UNAVAILABLE, "the disk is full");
            }
        };
        cay.server.pauseAll(Duration.ofSeconds(10));
        assertThat(state(pausable)).isEqualTo("paused");
        assertThat(state(stubborn)).isEqualTo("running");
        assertThat(state(other)).isEqualTo("running");
    }

    @Test
    void keepsOnlyTheFilesWhereThatWasWanted() {
        String id = create("\"timeout\":10,\"autoPause\":true,\"autoPauseMemory\":false");
        cay.clock.pass(Duration.ofSeconds(10));
        TestServer.await(
                "its pause", () -> state(id).equals("paused") && story(id).size() == 2);
        assertThat(cay.node.calls).contains("pause " + id + " FILES");
        assertThat(info(id).get("paused").get("memory").booleanValue()).isFalse();
    }

    @Test
    void theNodeKeepsRoomForWhatIsToBePausedWithItsMemory() {
        String paused = create("\"timeout\":1000,\"autoPause\":true");
        create("\"timeout\":1000");
        TestServer.await("the node to be told", () -> cay.node.roomFor.equals(Set.of(new SandboxId(paused))));
        pause(paused, "");
        TestServer.await("the node to be told", () -> cay.node.roomFor.isEmpty());
    }

    @Test
    void losesMemoryRatherThanTheSandboxAndSaysWhy() {
        cay.node.unsavable = "a device";
        String id = create("\"timeout\":10,\"autoPause\":true");
        cay.clock.pass(Duration.ofSeconds(10));
        TestServer.await("its pause", () -> info(id).has("paused"));
        assertThat(info(id).get("paused").get("reason").stringValue()).isEqualTo("a device cannot be saved");
        assertThat(cay.call("GET", "/v2/sandboxes/" + id + "/logs").text())
                .contains("Sandbox paused without its memory: a device cannot be saved");
    }

    @Test
    void whatCannotBePausedIsTriedAgainAndNeverKilled() {
        String id = create("\"timeout\":10,\"autoPause\":true");
        cay.node.onPause = _ -> {
            throw new CayException(ErrorKind.UNAVAILABLE, "the disk is full");
        };
        cay.clock.pass(Duration.ofSeconds(10));
        TestServer.await(
                "the first try", () -> cay.node.count("pause") == 1 && state(id).equals("running"));
        cay.clock.pass(Duration.ofSeconds(5));
        TestServer.await(
                "the second try",
                () -> cay.node.count("pause") == 2 && state(id).equals("running"));
        cay.node.onPause = _ -> {};
        cay.clock.pass(Duration.ofSeconds(5));
        TestServer.await(
                "its pause", () -> state(id).equals("paused") && story(id).size() == 2);
        assertThat(cay.node.count("pause")).isEqualTo(3);
        assertThat(story(id)).containsExactly("create", "pause");
    }

    @Test
    void whatExpiresDuringAPauseThatFailsIsPausedLater() throws Exception {
        String id = create("\"timeout\":10,\"autoPause\":true");
        var reached = new CountDownLatch(1);
        var go = new CountDownLatch(1);
        cay.node.onPause = _ -> {
            hold(reached, go);
            throw new CayException(ErrorKind.UNAVAILABLE, "the disk is full");
        };
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var pausing = threads.submit(() -> pause(id, ""));
            assertThat(reached.await(1, TimeUnit.MINUTES)).isTrue();
            String witness = create("\"timeout\":11");
            cay.clock.pass(Duration.ofSeconds(11));
            TestServer.await("one that ends after it", () -> !cay.node.running.containsKey(new SandboxId(witness)));
            cay.node.onPause = _ -> {};
            go.countDown();
            assertThat(pausing.get(1, TimeUnit.MINUTES)).isEqualTo(503);
        }
        assertThat(state(id)).isEqualTo("running");
        cay.clock.pass(Duration.ofSeconds(5));
        TestServer.await("its pause", () -> story(id).size() == 2);
        assertThat(state(id)).isEqualTo("paused");
    }

    @Test
    void aPauseThatWaitsForItsTurnIsNotOvertakenByTheEnd() throws Exception {
        int turns = Runtime.getRuntime().availableProcessors();
        var reached = new CountDownLatch(turns);
        var go = new CountDownLatch(1);
        cay.node.onPause = _ -> hold(reached, go);
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < turns; i++) {
                String other = cay.create();
                threads.submit(() -> pause(other, ""));
            }
            assertThat(reached.await(1, TimeUnit.MINUTES)).isTrue();
            String id = create("\"timeout\":10");
            var calls = new ExecutorCompletionService<Integer>(threads);
            calls.submit(() -> pause(id, ""));
            calls.submit(() -> pause(id, ""));
            var refused = calls.poll(1, TimeUnit.MINUTES);
            assertThat(refused).isNotNull();
            assertThat(refused.get()).as("the other one waits").isEqualTo(409);
            String witness = create("\"timeout\":11");
            cay.clock.pass(Duration.ofSeconds(11));
            TestServer.await("one that ends after it", () -> !cay.node.running.containsKey(new SandboxId(witness)));
            assertThat(state(id)).isEqualTo("running");
            go.countDown();
            var paused = calls.poll(1, TimeUnit.MINUTES);
            assertThat(paused).isNotNull();
            assertThat(paused.get()).isEqualTo(204);
            assertThat(state(id)).isEqualTo("paused");
        }
    }

    @Test
    void aResumedSandboxIsPausedAgain() {
        String id = create("\"timeout\":10,\"autoPause\":true");
        pause(id, "");
        cay.clock.pass(Duration.ofSeconds(60));
        assertThat(connect(id, "{\"timeout\":20}")).isEqualTo(201);
        cay.clock.pass(Duration.ofSeconds(20));
        TestServer.await("its pause", () -> story(id).size() == 4);
        assertThat(story(id)).containsExactly("create", "pause", "resume", "pause");
    }

    @Test
    void pausedSandboxesAreKeptThirtyDaysAlsoOverRestarts() throws Exception {
        String id = cay.create();
        pause(id, "");
        cay.clock.pass(Duration.ofDays(29));
        restart();
        assertThat(state(id)).isEqualTo("paused");
        cay.clock.pass(Duration.ofDays(1));
        TestServer.await("its end", () -> cay.node.list().isEmpty());
        assertThat(cay.call("GET", "/sandboxes/" + id).status()).isEqualTo(404);
        assertThat(lastEvent(id).get("eventData").get("kill_reason").stringValue())
                .isEqualTo("timeout");
    }

    @Test
    void aSecondPauseBeginsTheThirtyDaysAgain() {
        String id = cay.create();
        String other = cay.create();
        pause(id, "");
        pause(other, "");
        cay.clock.pass(Duration.ofDays(20));
        connect(id, "{}");
        pause(id, "");
        cay.clock.pass(Duration.ofDays(11));
        TestServer.await("the other one's end", () -> cay.node.list().size() == 1);
        assertThat(state(id)).isEqualTo("paused");
    }

    @Test
    void keepsThemForEverWhereTheOperatorSaysSo() throws Exception {
        cay.close();
        cay = TestServer.keepingForEver(directory, cay);
        String id = cay.create();
        pause(id, "");
        cay.clock.pass(Duration.ofDays(4000));
        String witness = create("\"timeout\":10");
        cay.clock.pass(Duration.ofSeconds(10));
        TestServer.await("the end of one that came later", () -> cay.node.running.isEmpty());
        assertThat(cay.call("GET", "/sandboxes/" + witness).status()).isEqualTo(404);
        assertThat(state(id)).isEqualTo("paused");
    }

    @Test
    void aClockThatIsSetKillsNoPausedSandbox() {
        String id = cay.create();
        pause(id, "");
        cay.clock.set(Duration.ofDays(100));
        TestServer.await(
                "its time to move along",
                () -> info(id).get("endAt").stringValue().equals("2026-12-30T10:00:00Z"));
        cay.clock.pass(Duration.ofDays(29));
        assertThat(connect(id, "{\"timeout\":60}")).isEqualTo(201);
        assertThat(info(id).get("endAt").stringValue()).isEqualTo("2027-01-28T10:01:00Z");
        pause(id, "");
        cay.clock.set(Duration.ofDays(-100));
        TestServer.await(
                "its time to move along",
                () -> info(id).get("endAt").stringValue().equals("2026-10-20T10:00:00Z"));
        cay.clock.pass(Duration.ofDays(30));
        TestServer.await("its end", () -> !cay.node.pausedSpecs.containsKey(new SandboxId(id)));
    }

    @Test
    void tenThousandPausedSandboxesAreListedFromMemory() throws Exception {
        cay.close();
        cay = TestServer.again(
                directory,
                cay,
                store -> store.write(handle -> {
                    String team = handle.createQuery("SELECT id FROM team")
                            .mapTo(String.class)
                            .one();
                    for (int i = 0; i < 10_000; i++) {
                        var id = new SandboxId("ipaused%05d".formatted(i));
                        cay.node.addPaused(id);
                        handle.execute(
                                """
                        INSERT INTO sandbox (id, team_id, template_id, build_id, execution_id, state, version, secure,
                            cpu_count, memory_mb, disk_size_mb, metadata, network, lifecycle, saved, started_at, end_at)
                        VALUES (?, ?, 't', 'b', 'e', 'PAUSED', 1, 1, 1, 1, 1, '{}',
                            '{"allowPublicTraffic":true,"maskRequestHost":null,"denyAllOut":false,"allowInternetAccess":null}',
                            '{"pause":true,"keepMemory":true,"autoResume":true,"resumeSeconds":300}',
                            '{"memory":true,"loss":null}', ?, ?)
                        """,
                                id.value(),
                                team,
                                cay.clock.instant().toEpochMilli() - i,
                                cay.clock.instant().toEpochMilli());
                    }
                    return team;
                }));
        int seen = 0;
        String token = "";
        do {
            var page = cay.call("GET", "/v2/sandboxes?state=paused&limit=100&nextToken=" + token);
            assertThat(page.status()).isEqualTo(200);
            seen += page.json().size();
            token = page.header("X-Next-Token");
        } while (token != null && seen < 500);
        assertThat(seen).isEqualTo(500);
        assertThat(connect("ipaused07777", "{}")).isEqualTo(201);
        assertThat(cay.server.running()).isEqualTo(1);
        assertThat(cay.node.count("kill")).isZero();
    }
}
