package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Pause and resume on a client's word.
@Fast
final class PauseTest extends ServerTest {
    @Test
    void aPausedSandboxGoesOnWithItsTokensAndANewRun() {
        var created = cay.create("{\"templateID\":\"base\",\"metadata\":{\"a\":\"b\"}}");
        String id = created.get("sandboxID").stringValue();
        cay.clock.pass(Duration.ofSeconds(5));

        assertThat(pause(id, "")).isEqualTo(204);
        assertThat(cay.node.calls).contains("pause " + id + " MEMORY");
        assertThat(info(id).get("state").stringValue()).isEqualTo("paused");
        assertThat(info(id).get("endAt").stringValue()).isEqualTo("2026-09-21T10:00:05Z");
        assertThat(info(id).get("paused").toString())
                .isEqualTo("{\"memory\":true,\"durability\":{\"state\":\"saved\"}}");
        assertThat(cay.server.running()).isZero();
        var paused = lastEvent(id).get("eventData");
        assertThat(paused.get("execution").get("execution_time").longValue()).isEqualTo(5000);
        assertThat(paused.get("memory").booleanValue()).isTrue();

        cay.clock.pass(Duration.ofDays(2));
        var answer = cay.call("POST", "/v2/sandboxes/" + id + "/connect", "{}");
        assertThat(answer.status()).isEqualTo(201);
        assertThat(answer.json()).isEqualTo(created);
        assertThat(cay.node.calls).contains("resume " + id + " true");
        assertThat(info(id).get("state").stringValue()).isEqualTo("running");
        assertThat(info(id).get("startedAt").stringValue()).isEqualTo("2026-09-23T10:00:05Z");
        assertThat(info(id).get("endAt").stringValue()).isEqualTo("2026-09-23T10:05:05Z");
        assertThat(info(id).has("paused")).isFalse();
        assertThat(info(id).get("metadata").get("a").stringValue()).isEqualTo("b");
        assertThat(story(id)).containsExactly("create", "pause", "resume");
        assertThat(events(id).get(0).get("sandboxExecutionId"))
                .isNotEqualTo(events(id).get(1).get("sandboxExecutionId"));
        assertThat(events(id).get(1).get("sandboxExecutionId"))
                .isEqualTo(events(id).get(2).get("sandboxExecutionId"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
            {}                | MEMORY
            {"memory":true}   | MEMORY
            {"memory":false}  | FILES
            """)
    void savesWhatTheClientSays(String body, String keep) {
        String id = cay.create();
        assertThat(pause(id, body)).isEqualTo(204);
        assertThat(cay.node.calls).contains("pause " + id + " " + keep);
        assertThat(info(id).get("paused").get("memory").booleanValue()).isEqualTo(keep.equals("MEMORY"));
    }

    @Test
    void whoDidNotInsistOnMemoryIsNotRefusedForItsSake() {
        cay.node.unsavable = "a device";
        String id = create("\"autoPause\":true,\"autoPauseMemory\":false");
        assertThat(pause(id, "{}")).isEqualTo(204);
        assertThat(cay.node.calls).contains("pause " + id + " MEMORY_IF_POSSIBLE");
        assertThat(info(id).get("paused").toString())
                .isEqualTo(
                        "{\"memory\":false,\"reason\":\"a device cannot be saved\",\"durability\":{\"state\":\"saved\"}}");
        assertThat(lastEvent(id).get("eventData").get("memory_loss").stringValue())
                .isEqualTo("a device cannot be saved");
        assertThat(connect(id, "{}")).isEqualTo(201);
        assertThat(cay.node.calls).contains("resume " + id + " false");
    }

    @Test
    void whatCannotBeSavedGoesOnAndTheCallerHearsWhy() {
        cay.node.unsavable = "a device";
        String id = cay.create();
        var answer = cay.call("POST", "/sandboxes/" + id + "/pause");
        assertThat(answer.status()).isEqualTo(422);
        assertThat(answer.message()).isEqualTo("a device cannot be saved");
        assertThat(answer.json().get("error_code").stringValue()).isEqualTo("sandbox_memory_not_saved");
        assertThat(info(id).get("state").stringValue()).isEqualTo("running");
        assertThat(edge(id)).isEqualTo(200);
        assertThat(story(id)).containsExactly("create");
        assertThat(pause(id, "{\"memory\":false}")).isEqualTo(204);
    }

    /// Many times, as a moment decides what the one sees of the other.
    @Test
    void aConnectWinsAgainstAPauseThatComesAtTheSameTime() throws Exception {
        String id = cay.create();
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < 300; i++) {
                int timeout = 1000 + i;
                var pausing = threads.submit(() -> pause(id, ""));
                assertThat(connect(id, "{\"timeout\":%d}".formatted(timeout))).isIn(200, 201);
                assertThat(pausing.get(1, TimeUnit.MINUTES)).isIn(204, 409);
                assertThat(connect(id, "{}")).isIn(200, 201);
            }
        }
    }

    @Test
    void aSecondPauseIs409AndAResumeOfARunningOneToo() {
        String id = cay.create();
        var running = cay.call("POST", "/sandboxes/" + id + "/resume");
        assertThat(running.status()).isEqualTo(409);
        assertThat(running.message()).isEqualTo("Sandbox " + id + " is already running");
        pause(id, "");
        var again = cay.call("POST", "/sandboxes/" + id + "/pause");
        assertThat(again.status()).isEqualTo(409);
        assertThat(again.json().get("code").intValue()).isEqualTo(409);
        assertThat(again.message()).isEqualTo("Sandbox " + id + " is already paused");
        assertThat(cay.node.count("pause")).isEqualTo(1);
    }

    @Test
    void theOldResumeLives15SecondsAndMayChangeWhatComesThen() {
        String id = cay.create();
        pause(id, "");
        assertThat(cay.call("POST", "/sandboxes/" + id + "/resume").status()).isEqualTo(201);
        assertThat(info(id).get("endAt").stringValue()).isEqualTo("2026-09-21T10:00:15Z");
        assertThat(info(id).get("lifecycle").get("onTimeout").stringValue()).isEqualTo("kill");
        pause(id, "");
        assertThat(cay.call("POST", "/sandboxes/" + id + "/resume", "{\"timeout\":60,\"autoPause\":true}")
                        .status())
                .isEqualTo(201);
        assertThat(info(id).get("endAt").stringValue()).isEqualTo("2026-09-21T10:01:00Z");
        assertThat(info(id).get("lifecycle").get("onTimeout").stringValue()).isEqualTo("pause");
    }

    @Test
    void aRebootStartsFromTheFilesAndLeavesARunningOneAlone() {
        String id = cay.create();
        assertThat(connect(id, "{\"memory\":false}")).isEqualTo(200);
        pause(id, "");
        assertThat(connect(id, "{\"memory\":false}")).isEqualTo(201);
        assertThat(cay.node.calls).contains("resume " + id + " false").doesNotContain("resume " + id + " true");
    }

    @Test
    void whatCannotBeRestoredStaysPausedAndTheCallerHearsWhatToDo() {
        String id = cay.create();
        pause(id, "");
        cay.clock.pass(Duration.ofSeconds(7));
        cay.node.onResume = _ -> {
            throw new CayException(ErrorKind.NOT_RESTORED, "its memory needs another CPU");
        };
        var answer = cay.call("POST", "/sandboxes/" + id + "/connect", "{\"timeout\":60}");
        assertThat(answer.status()).isEqualTo(422);
        assertThat(answer.json().get("error_code").stringValue()).isEqualTo("sandbox_memory_not_restored");
        assertThat(answer.message())
                .startsWith("its memory needs another CPU")
                .contains("connect with onResume: 'reboot' (\"memory\": false)");
        assertThat(info(id).get("state").stringValue()).isEqualTo("paused");
        assertThat(info(id).get("endAt").stringValue()).isEqualTo("2026-09-21T10:00:00Z");
        assertThat(story(id)).containsExactly("create", "pause");
        var fromFiles = cay.call("POST", "/sandboxes/" + id + "/connect", "{\"timeout\":60,\"memory\":false}");
        assertThat(fromFiles.status()).isEqualTo(422);
        assertThat(fromFiles.message()).isEqualTo("its memory needs another CPU");
        cay.node.onResume = _ -> {};
        assertThat(connect(id, "{\"memory\":false}")).isEqualTo(201);
    }

    @Test
    void anAnswerThatIsLostIsLookedUpOnTheNode() {
        String id = cay.create();
        cay.node.onAnswer = () -> {
            throw new CayException(ErrorKind.DEADLINE_EXCEEDED, "no answer");
        };
        assertThat(pause(id, "")).isEqualTo(204);
        assertThat(info(id).get("state").stringValue()).isEqualTo("paused");
        assertThat(connect(id, "{\"timeout\":600}")).isEqualTo(201);
        assertThat(info(id).get("endAt").stringValue()).isEqualTo("2026-09-21T10:10:00Z");
        assertThat(story(id)).containsExactly("create", "pause", "resume", "update");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
            POST | timeout   | {"timeout":5}
            POST | timeout   | {"timeout":0}
            POST | refreshes | {}
            PUT  | network   | {"allow_internet_access":false}
            """)
    void aPausedSandboxCannotBeChanged(String method, String what, String body) {
        String id = cay.create();
        pause(id, "");
        var answer = cay.call(method, "/sandboxes/" + id + "/" + what, body);
        assertThat(answer.status()).isEqualTo(409);
        assertThat(answer.json().get("code").intValue()).isEqualTo(409);
        assertThat(answer.message()).contains("is paused; connect to it first");
        assertThat(cay.node.count("internet")).isZero();
        assertThat(info(id).get("state").stringValue()).isEqualTo("paused");
    }

    @Test
    void aPausedSandboxCanBeKilledOnce() {
        String id = cay.create();
        cay.clock.pass(Duration.ofSeconds(5));
        pause(id, "");
        cay.clock.pass(Duration.ofSeconds(500));
        assertThat(cay.call("DELETE", "/sandboxes/" + id).status()).isEqualTo(204);
        assertThat(cay.call("DELETE", "/sandboxes/" + id).status()).isEqualTo(404);
        assertThat(cay.node.list()).isEmpty();
        assertThat(connect(id, "{}")).isEqualTo(404);
        assertThat(lastEvent(id)
                        .get("eventData")
                        .get("execution")
                        .get("execution_time")
                        .longValue())
                .isEqualTo(5000);
    }

    @Test
    void whatIsAskedOfOneThatIsBeingPaused() throws Exception {
        String id = cay.create();
        var reached = new CountDownLatch(1);
        var go = new CountDownLatch(1);
        cay.node.onPause = _ -> hold(reached, go);
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var pausing = threads.submit(() -> pause(id, ""));
            assertThat(reached.await(1, TimeUnit.MINUTES)).isTrue();
            assertThat(info(id).get("state").stringValue()).isEqualTo("paused");
            assertThat(edge(id)).isEqualTo(502);
            assertThat(pause(id, "")).isEqualTo(409);
            assertThat(cay.call("POST", "/sandboxes/" + id + "/timeout", "{\"timeout\":9}")
                            .status())
                    .isEqualTo(409);
            var connecting = threads.submit(() -> connect(id, "{}"));
            go.countDown();
            assertThat(pausing.get(1, TimeUnit.MINUTES)).isEqualTo(204);
            assertThat(connecting.get(1, TimeUnit.MINUTES)).isEqualTo(201);
        }
        assertThat(story(id)).containsExactly("create", "pause", "resume");
    }

    @Test
    void whoConnectsWhileAPauseFailsFindsItRunning() throws Exception {
        String id = cay.create();
        var reached = new CountDownLatch(1);
        var go = new CountDownLatch(1);
        cay.node.onPause = _ -> {
            hold(reached, go);
            throw new CayException(ErrorKind.UNAVAILABLE, "no room on the disk");
        };
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var pausing = threads.submit(() -> pause(id, ""));
            assertThat(reached.await(1, TimeUnit.MINUTES)).isTrue();
            var connecting = threads.submit(() -> connect(id, "{}"));
            go.countDown();
            assertThat(pausing.get(1, TimeUnit.MINUTES)).isEqualTo(503);
            assertThat(connecting.get(1, TimeUnit.MINUTES)).isEqualTo(200);
        }
        assertThat(cay.node.count("resume")).isZero();
    }

    @ParameterizedTest
    @CsvSource({"pause", "resume"})
    void aKillWinsOverAChangeThatGoesOn(String change) throws Exception {
        String id = cay.create();
        var reached = new CountDownLatch(1);
        var go = new CountDownLatch(1);
        if (change.equals("pause")) {
            cay.node.onPause = _ -> hold(reached, go);
        } else {
            pause(id, "");
            cay.node.onResume = _ -> hold(reached, go);
        }
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var changing = threads.submit(() -> change.equals("pause") ? pause(id, "") : connect(id, "{}"));
            assertThat(reached.await(1, TimeUnit.MINUTES)).isTrue();
            assertThat(cay.call("DELETE", "/sandboxes/" + id).status()).isEqualTo(204);
            go.countDown();
            assertThat(changing.get(1, TimeUnit.MINUTES)).isEqualTo(404);
        }
        assertThat(cay.node.list()).isEmpty();
        assertThat(cay.call("GET", "/sandboxes/" + id).status()).isEqualTo(404);
        assertThat(story(id).getLast()).isEqualTo("kill");
    }

    @Test
    void manyCallersResumeOnce() throws Exception {
        String id = cay.create();
        pause(id, "");
        var reached = new CountDownLatch(1);
        var go = new CountDownLatch(1);
        cay.node.onResume = _ -> hold(reached, go);
        var statuses = allAtOnce(20, reached, go, () -> connect(id, "{\"timeout\":100}"));
        assertThat(statuses)
                .as("who comes late finds it running")
                .isSubsetOf(200, 201)
                .contains(201);
        assertThat(cay.node.count("resume")).isEqualTo(1);
        assertThat(story(id).stream().filter("resume"::equals)).hasSize(1);
    }

    @Test
    void whoWaitedForAResumeThatFailedHearsTheSame() throws Exception {
        String id = cay.create();
        pause(id, "");
        var reached = new CountDownLatch(1);
        var go = new CountDownLatch(1);
        cay.node.onResume = _ -> {
            hold(reached, go);
            throw new CayException(ErrorKind.NOT_RESTORED, "not here");
        };
        var statuses = allAtOnce(5, reached, go, () -> connect(id, "{}"));
        assertThat(statuses).containsOnly(422);
        assertThat(info(id).get("state").stringValue()).isEqualTo("paused");
    }

    @Test
    void manyPausedSandboxesComeBackOneAfterTheOther() throws Exception {
        var ids = new ArrayList<String>();
        for (int i = 0; i < 50; i++) {
            ids.add(cay.create());
        }
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var pauses =
                    ids.stream().map(id -> threads.submit(() -> pause(id, ""))).toList();
            assertThat(results(pauses)).containsOnly(204);
            var resumes = ids.stream()
                    .map(id -> threads.submit(() -> connect(id, "{}")))
                    .toList();
            assertThat(results(resumes)).containsOnly(201);
        }
        assertThat(cay.server.running()).isEqualTo(50);
        assertThat(cay.node.running).hasSize(50);
    }

    @Test
    void aPausedSandboxIsListedAndHasLogsAndMetrics() {
        String id = cay.create();
        pause(id, "");
        assertThat(ids("/v2/sandboxes?state=paused")).containsExactly(id);
        assertThat(ids("/v2/sandboxes?state=running")).isEmpty();
        assertThat(ids("/v2/sandboxes")).containsExactly(id);
        assertThat(ids("/sandboxes")).isEmpty();
        assertThat(cay.call("GET", "/sandboxes/" + id + "/metrics").status()).isEqualTo(200);
        assertThat(cay.call("GET", "/sandboxes/metrics?sandbox_ids=" + id)
                        .json()
                        .get("sandboxes")
                        .isEmpty())
                .isTrue();
        assertThat(cay.call("GET", "/v2/sandboxes/" + id + "/logs").text()).contains("Sandbox paused");
    }

    private List<Integer> allAtOnce(int callers, CountDownLatch reached, CountDownLatch go, Callable<Integer> call)
            throws Exception {
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var calls = new ArrayList<Future<Integer>>();
            for (int i = 0; i < callers; i++) {
                calls.add(threads.submit(call));
            }
            assertThat(reached.await(1, TimeUnit.MINUTES)).isTrue();
            go.countDown();
            return results(calls);
        }
    }

    private static List<Integer> results(List<Future<Integer>> calls) throws Exception {
        var results = new ArrayList<Integer>();
        for (var call : calls) {
            results.add(call.get(1, TimeUnit.MINUTES));
        }
        return results;
    }

    private List<String> ids(String path) {
        return cay.call("GET", path).json().values().stream()
                .map(sandbox -> sandbox.get("sandboxID").stringValue())
                .toList();
    }

    private int edge(String id) {
        return cay.request("GET", "/", Map.of("Host", "3000-" + new SandboxId(id) + ".cay.test"))
                .status();
    }
}
