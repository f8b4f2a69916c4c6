package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Await;
import dev.cay.testing.Fast;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import dev.cay.wire.TemplateId;
import dev.cay.wire.node.Egress;
import dev.cay.wire.node.Resources;
import dev.cay.wire.node.SandboxSpec;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Ends on time, and what a restart finds.
@Fast
final class LifeTest extends ServerTest {
    @Test
    void endsSandboxesWhenTheirTimeIsOverAndNotBefore() {
        String brief = create(10);
        String later = create(20);
        cay.clock.pass(Duration.ofSeconds(10));
        TestServer.await("the first end", () -> cay.server.running() == 1);
        assertThat(cay.call("GET", "/sandboxes/" + brief).status()).isEqualTo(404);
        assertThat(cay.call("GET", "/sandboxes/" + later).status()).isEqualTo(200);
        TestServer.await("the node to end it", () -> cay.node.running.size() == 1);
        assertThat(lastEvent(brief).get("eventData").get("kill_reason").stringValue())
                .isEqualTo("timeout");
    }

    @Test
    void anExtendedSandboxOutlivesItsFirstEnd() {
        String extended = create(10);
        String other = create(11);
        cay.call("POST", "/sandboxes/" + extended + "/timeout", "{\"timeout\":60}");
        cay.clock.pass(Duration.ofSeconds(30));
        TestServer.await("the other one's end", () -> cay.server.running() == 1);
        assertThat(cay.call("GET", "/sandboxes/" + other).status()).isEqualTo(404);
        assertThat(cay.call("GET", "/sandboxes/" + extended).status()).isEqualTo(200);
    }

    @Test
    void aRestartLosesNoSandboxAndKeepsTokensAndEnds() throws Exception {
        String id = create(100);
        var before = cay.call("GET", "/sandboxes/" + id).text();
        restart();
        assertThat(cay.server.firstKey()).isEmpty();
        assertThat(cay.call("GET", "/sandboxes/" + id).text()).isEqualTo(before);
        assertThat(cay.server.running()).isEqualTo(1);
        cay.clock.pass(Duration.ofSeconds(100));
        TestServer.await("its end", () -> cay.node.running.isEmpty());
    }

    @Test
    void aClockThatIsSetForwardEndsNothingEarly() {
        String id = create(300);
        cay.clock.set(Duration.ofHours(1));
        TestServer.await("its end to move along", () -> endAt(id).equals("2026-09-21T11:05:00Z"));
        cay.clock.pass(Duration.ofSeconds(295));
        assertThat(cay.call("GET", "/sandboxes/" + id).status()).isEqualTo(200);
        String later = create(60);
        assertThat(endAt(later)).isEqualTo("2026-09-21T11:05:55Z");
        cay.clock.pass(Duration.ofSeconds(6));
        TestServer.await("its end", () -> !cay.node.running.containsKey(new SandboxId(id)));
        assertThat(cay.node.running).containsOnlyKeys(new SandboxId(later));
    }

    @Test
    void aClockThatIsSetBackLetsNothingLiveLonger() throws Exception {
        String id = create(300);
        cay.clock.set(Duration.ofHours(-1));
        TestServer.await("its end to move along", () -> endAt(id).equals("2026-09-21T09:05:00Z"));
        restart();
        assertThat(endAt(id)).isEqualTo("2026-09-21T09:05:00Z");
        cay.clock.pass(Duration.ofSeconds(299));
        assertThat(cay.node.running).isNotEmpty();
        cay.clock.pass(Duration.ofSeconds(2));
        TestServer.await("its end", () -> cay.node.running.isEmpty());
        assertThat(lastEvent(id).get("eventData").get("kill_reason").stringValue())
                .isEqualTo("timeout");
    }

    @Test
    void whatExpiredWhileTheMachineSleptEndsWhenItWakes() {
        String first = create(60);
        String second = create(6000);
        cay.clock.pass(Duration.ofMinutes(30));
        TestServer.await("its end", () -> !cay.node.running.containsKey(new SandboxId(first)));
        assertThat(cay.node.running).containsOnlyKeys(new SandboxId(second));
        assertThat(endAt(second)).isEqualTo("2026-09-21T11:40:00Z");
    }

    @Test
    void aNodeWithoutRoomIsAnAnswerWithItsReason() {
        cay.node.onCreate = spec -> {
            throw new CayException(
                    ErrorKind.UNAVAILABLE, "this machine has no room for another sandbox: all 3 slots are taken");
        };
        var answer = cay.call("POST", "/v2/sandboxes", "{\"templateID\":\"base\"}");
        assertThat(answer.status()).isEqualTo(503);
        assertThat(answer.message()).isEqualTo("this machine has no room for another sandbox: all 3 slots are taken");
    }

    @ParameterizedTest
    @CsvSource({"UNAVAILABLE, 503", "EXHAUSTED, 429"})
    void whoShallComeAgainIsToldWhenInWholeSeconds(ErrorKind kind, int status) {
        cay.node.onCreate = spec -> {
            throw new CayException(kind, "not now");
        };
        var answer = cay.call("POST", "/v2/sandboxes", "{\"templateID\":\"base\"}");
        assertThat(answer.status()).isEqualTo(status);
        assertThat(answer.header("Retry-After")).matches("[1-9]");
    }

    @Test
    void endsAtStartWhatExpiredWhileWeWereAway() throws Exception {
        create(10);
        cay.close();
        cay.clock.pass(Duration.ofHours(1));
        cay = TestServer.again(directory, cay);
        TestServer.await("its end", () -> cay.node.running.isEmpty());
    }

    @Test
    void settlesWithTheNode() throws Exception {
        String gone = create(100);
        String stays = create(100);
        cay.close();
        cay.node.running.remove(new SandboxId(gone));
        var stranger = new SandboxId("istranger");
        cay.node.running.put(
                stranger,
                new SandboxSpec(
                        stranger,
                        new TemplateId("t"),
                        List.of(),
                        new Resources(1, 1, 1),
                        Map.of(),
                        null,
                        "user",
                        null,
                        Egress.open(),
                        null));
        cay = TestServer.again(directory, cay);
        assertThat(cay.node.running).containsOnlyKeys(new SandboxId(stays));
        assertThat(cay.call("GET", "/sandboxes/" + gone).status()).isEqualTo(404);
        assertThat(lastEvent(gone).get("eventData").get("kill_reason").stringValue())
                .isEqualTo("orphaned");
    }

    @Test
    void whatWasOnlyStartingWhenWeDiedIsTakenBack() throws Exception {
        var started = new CountDownLatch(1);
        var never = new CountDownLatch(1);
        cay.node.onCreate = spec -> {
            cay.node.running.put(spec.id(), spec);
            started.countDown();
            Await.until("the test is over", never);
        };
        var caller = Thread.startVirtualThread(() -> {
            try {
                cay.create();
            } catch (AssertionError e) {
                // its server is taken away
            }
        });
        Await.until("the node starts the sandbox", started);
        var died = cay;
        // A second server on the same files sees just what a start after kill -9 would.
        try (var next = TestServer.again(directory, died)) {
            assertThat(next.node.running).isEmpty();
            assertThat(next.server.running()).isZero();
            assertThat(next.call("GET", "/events/sandboxes").json().isEmpty()).isTrue();
        }
        never.countDown();
        assertThat(caller.join(Duration.ofMinutes(1))).isTrue();
    }

    @Test
    void tellsTheLifeOfASandbox() {
        String id = cay.create("{\"templateID\":\"base\",\"metadata\":{\"a\":\"b\"}}")
                .get("sandboxID")
                .stringValue();
        cay.call("POST", "/sandboxes/" + id + "/timeout", "{\"timeout\":60}");
        cay.clock.pass(Duration.ofSeconds(5));
        cay.call("DELETE", "/sandboxes/" + id);
        create(10);
        var events =
                cay.call("GET", "/events/sandboxes/" + id + "?orderAsc=true").json();
        assertThat(events)
                .extracting(event -> event.get("type").stringValue())
                .containsExactly("sandbox.lifecycle.created", "sandbox.lifecycle.updated", "sandbox.lifecycle.killed");
        var killed = events.get(2);
        assertThat(killed.get("sandboxId")).isEqualTo(killed.get("sandbox_id"));
        assertThat(killed.get("eventData").get("kill_reason").stringValue()).isEqualTo("request");
        assertThat(killed.get("event_data")
                        .get("execution")
                        .get("execution_time")
                        .longValue())
                .isEqualTo(5000);
        assertThat(killed.get("eventData").get("sandbox_metadata").get("a").stringValue())
                .isEqualTo("b");
        assertThat(events.get(1).get("eventData").get("set_timeout").stringValue())
                .isEqualTo("2026-09-21T10:01:00Z");
        assertThat(events.get(0).get("timestamp").stringValue()).isEqualTo("2026-09-21T10:00:00Z");
        assertThat(cay.call("GET", "/events/sandboxes?limit=2&offset=1").json().size())
                .isEqualTo(2);
        assertThat(cay.call("GET", "/events/sandboxes").json().size()).isEqualTo(4);
        assertThat(cay.call("GET", "/events/sandboxes?types=sandbox.lifecycle.killed&types=sandbox.lifecycle.updated")
                        .json()
                        .size())
                .isEqualTo(2);
        assertThat(cay.call("GET", "/events/sandboxes?types=nonsense").status()).isEqualTo(400);
        assertThat(cay.call("GET", "/events/sandboxes?limit=101").status()).isEqualTo(400);
    }

    private String endAt(String id) {
        return cay.call("GET", "/sandboxes/" + id).json().get("endAt").stringValue();
    }

    private String create(int seconds) {
        return cay.create("{\"templateID\":\"base\",\"timeout\":" + seconds + "}")
                .get("sandboxID")
                .stringValue();
    }
}
