package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.FileSignature;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/// Requests that come for a paused sandbox.
@Fast
final class AutoResumeTest extends ServerTest {
    private static final String WAKES = "\"autoPause\":true,\"autoResume\":{\"enabled\":true}";

    @Test
    void aRequestWakesASandboxThatWasMadeForIt() {
        String id = create("\"timeout\":10," + WAKES);
        assertThat(info(id).get("lifecycle").toString()).isEqualTo("{\"autoResume\":true,\"onTimeout\":\"pause\"}");
        cay.clock.pass(Duration.ofSeconds(10));
        TestServer.await("its pause", () -> story(id).size() == 2);
        var answer = edge(id, 3000, "/");
        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.json().get("sandbox").stringValue()).isEqualTo(id);
        assertThat(story(id)).containsExactly("create", "pause", "resume");
        assertThat(info(id).get("endAt").stringValue())
                .as("at least five minutes")
                .isEqualTo("2026-09-21T10:05:10Z");
    }

    @Test
    void itLivesAsLongAsItWasCreatedForIfThatIsMore() {
        String id = create("\"timeout\":1000," + WAKES);
        cay.call("POST", "/sandboxes/" + id + "/timeout", "{\"timeout\":20}");
        pause(id, "");
        assertThat(edge(id, 3000, "/").status()).isEqualTo(200);
        assertThat(info(id).get("endAt").stringValue()).isEqualTo("2026-09-21T10:16:40Z");
    }

    @Test
    void othersAreNotFound() {
        String plain = create("\"autoPause\":true");
        String files = create(WAKES);
        pause(plain, "");
        pause(files, "{\"memory\":false}");
        assertThat(edge(plain, 3000, "/").status()).isEqualTo(502);
        var answer = edge(files, 3000, "/");
        assertThat(answer.status()).isEqualTo(502);
        assertThat(answer.message()).isEqualTo("The sandbox was not found");
        assertThat(cay.node.count("resume")).isZero();
    }

    @Test
    void manyRequestsWakeItOnceAndAreAllServed() throws Exception {
        String id = create(WAKES);
        pause(id, "");
        var reached = new CountDownLatch(1);
        var go = new CountDownLatch(1);
        cay.node.onResume = _ -> hold(reached, go);
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var calls = new ArrayList<Future<Integer>>();
            for (int i = 0; i < 20; i++) {
                int port = 3000 + i;
                calls.add(threads.submit(() -> edge(id, port, "/").status()));
            }
            assertThat(reached.await(1, TimeUnit.MINUTES)).isTrue();
            go.countDown();
            for (var call : calls) {
                assertThat(call.get(1, TimeUnit.MINUTES)).isEqualTo(200);
            }
        }
        assertThat(cay.node.count("resume")).isEqualTo(1);
    }

    @Test
    void theBodyOfAHeldRequestComesThroughWhole() {
        String id = create(WAKES);
        pause(id, "");
        String body = "x".repeat(300_000);
        var answer = cay.request(
                "POST", "/", Map.of("Host", "3000-" + id + ".cay.test", "Content-Type", "text/plain"), body);
        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.json().get("body").intValue()).isEqualTo(body.length());
        assertThat(story(id)).containsExactly("create", "pause", "resume");
    }

    @Test
    void whoComesWhileItIsBeingPausedWaitsAndWakesIt() throws Exception {
        String id = create(WAKES);
        assertThat(askWhilePausing(id, "")).isEqualTo(200);
        assertThat(story(id)).containsExactly("create", "pause", "resume");
    }

    @Test
    void whoComesWhileOnlyItsFilesAreSavedDoesNotWakeIt() throws Exception {
        String id = create(WAKES);
        assertThat(askWhilePausing(id, "{\"memory\":false}")).isEqualTo(502);
        assertThat(cay.node.count("resume")).isZero();
    }

    @Test
    void privateTrafficNeedsItsTokenBeforeAnythingIsWoken() {
        var created = cay.create("{\"templateID\":\"base\",\"network\":{\"allowPublicTraffic\":false}," + WAKES + "}");
        String id = created.get("sandboxID").stringValue();
        pause(id, "");
        assertThat(edge(id, 3000, "/").status()).isEqualTo(403);
        assertThat(edge(id, 3000, "/", "e2b-traffic-access-token", "wrong").status())
                .isEqualTo(403);
        assertThat(cay.node.count("resume")).isZero();
        String token = created.get("trafficAccessToken").stringValue();
        assertThat(edge(id, 3000, "/", "e2b-traffic-access-token", token).status())
                .isEqualTo(200);
    }

    @Test
    void theSystemPortNeedsTheAccessTokenBeforeAnythingIsWoken() {
        var created = cay.create("{\"templateID\":\"base\"," + WAKES + "}");
        String id = created.get("sandboxID").stringValue();
        pause(id, "");
        assertThat(edge(id, 49983, "/health").status()).isEqualTo(403);
        assertThat(edge(id, 49983, "/health", "X-Access-Token", "wrong").status())
                .isEqualTo(403);
        assertThat(edge(id, 49983, "/init", "X-Access-Token", "wrong").status()).isEqualTo(404);
        assertThat(cay.node.count("resume")).isZero();
        String token = created.get("envdAccessToken").stringValue();
        assertThat(edge(id, 49983, "/health", "X-Access-Token", token).status()).isEqualTo(200);
        assertThat(story(id)).containsExactly("create", "pause", "resume");
    }

    @Test
    void aSignedUrlWakesItUntilItExpires() {
        var created = cay.create("{\"templateID\":\"base\"," + WAKES + "}");
        String id = created.get("sandboxID").stringValue();
        String token = created.get("envdAccessToken").stringValue();
        pause(id, "");
        long now = cay.clock.instant().getEpochSecond();
        assertThat(edge(id, 49983, signed("/a", now - 1, token)).status()).isEqualTo(403);
        assertThat(edge(id, 49983, signed("/a", now + 60, "another")).status()).isEqualTo(403);
        assertThat(edge(id, 49983, signed("/a", now + 60, token).replace("/files", "/other"))
                        .status())
                .isEqualTo(403);
        assertThat(cay.node.count("resume")).isZero();
        assertThat(edge(id, 49983, signed("/a", now + 60, token)).status()).isEqualTo(200);
        pause(id, "");
        assertThat(cay.request("GET", signed("/a", now + 60, token), Map.of()).status())
                .as("without a name of the sandbox")
                .isEqualTo(200);
        assertThat(cay.node.count("resume")).isEqualTo(2);
    }

    @Test
    void anUnsecuredSystemPortWakesForEverybody() {
        String id = cay.call("POST", "/sandboxes", "{\"templateID\":\"base\",\"timeout\":300," + WAKES + "}")
                .json()
                .get("sandboxID")
                .stringValue();
        pause(id, "");
        assertThat(edge(id, 49983, "/health").status()).isEqualTo(200);
    }

    @Test
    void aFailureIsToldAndTheSandboxStaysPaused() {
        String id = create(WAKES);
        pause(id, "");
        cay.node.onResume = _ -> {
            throw new CayException(ErrorKind.UNAVAILABLE, "this machine has no room");
        };
        var answer = edge(id, 3000, "/");
        assertThat(answer.status()).isEqualTo(503);
        assertThat(answer.message()).isEqualTo("this machine has no room");
        assertThat(answer.json().get("sandboxId").stringValue()).isEqualTo(id);
        assertThat(state(id)).isEqualTo("paused");
    }

    @Test
    void aChangeThatTakesTooLongIsTold() throws Exception {
        cay.close();
        cay = TestServer.impatient(directory, cay);
        String id = create(WAKES);
        pause(id, "");
        var reached = new CountDownLatch(1);
        var go = new CountDownLatch(1);
        cay.node.onResume = _ -> hold(reached, go);
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var first = threads.submit(() -> edge(id, 3000, "/").status());
            assertThat(reached.await(1, TimeUnit.MINUTES)).isTrue();
            var answer = edge(id, 3000, "/");
            assertThat(answer.status()).isEqualTo(409);
            assertThat(answer.message()).isEqualTo("The sandbox is still transitioning. Try again in a moment.");
            assertThat(connect(id, "{}")).isEqualTo(409);
            go.countDown();
            assertThat(first.get(1, TimeUnit.MINUTES)).isEqualTo(200);
        }
    }

    @Test
    void aRequestForOneThatIsKilledMeanwhileFindsNothing() throws Exception {
        String id = create(WAKES);
        pause(id, "");
        var reached = new CountDownLatch(1);
        var go = new CountDownLatch(1);
        cay.node.onResume = _ -> hold(reached, go);
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var request = threads.submit(() -> edge(id, 3000, "/").status());
            assertThat(reached.await(1, TimeUnit.MINUTES)).isTrue();
            assertThat(cay.call("DELETE", "/sandboxes/" + id).status()).isEqualTo(204);
            go.countDown();
            assertThat(request.get(1, TimeUnit.MINUTES)).isEqualTo(502);
        }
        assertThat(cay.node.list()).isEmpty();
    }

    /// What a request is answered that comes while the sandbox is being paused.
    private int askWhilePausing(String id, String how) throws Exception {
        var reached = new CountDownLatch(1);
        var go = new CountDownLatch(1);
        cay.node.onPause = _ -> hold(reached, go);
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var pausing = threads.submit(() -> pause(id, how));
            assertThat(reached.await(1, TimeUnit.MINUTES)).isTrue();
            var request = threads.submit(() -> edge(id, 3000, "/").status());
            go.countDown();
            assertThat(pausing.get(1, TimeUnit.MINUTES)).isEqualTo(204);
            return request.get(1, TimeUnit.MINUTES);
        }
    }

    private static String signed(String path, long until, String token) {
        String expiration = Long.toString(until);
        String signature = FileSignature.sign(path, "read", "", expiration, token);
        return "/files?path=%s&signature_expiration=%s&signature=%s"
                .formatted(path, expiration, signature.replace("+", "%2B").replace("/", "%2F"));
    }

    private TestServer.Answer edge(String id, int port, String path, String... headers) {
        var all = new HashMap<>(Map.of("Host", port + "-" + id + ".cay.test"));
        for (int i = 0; i < headers.length; i += 2) {
            all.put(headers[i], headers[i + 1]);
        }
        return cay.request("GET", path, all);
    }
}
