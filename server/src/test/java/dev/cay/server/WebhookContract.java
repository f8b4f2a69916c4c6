package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.server.store.Store;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/// What is promised of webhooks, whatever engine the store has.
@Timeout(120)
abstract class WebhookContract {
    private static final String ALL = """
            ["sandbox.lifecycle.created", "sandbox.lifecycle.updated", "sandbox.lifecycle.paused",
             "sandbox.lifecycle.resumed", "sandbox.lifecycle.killed", "sandbox.lifecycle.checkpointed"]""";

    @TempDir
    Path directory;

    TestServer cay;
    Receiver receiver;

    /// The same records each time within one test.
    abstract Store open() throws Exception;

    /// Called before each test.
    void empty() throws Exception {}

    @BeforeEach
    final void start() throws Exception {
        empty();
        receiver = new Receiver();
        cay = TestServer.on(open(), directory, new FakeNode(), new FakeClock(), "");
    }

    @AfterEach
    final void stop() {
        // A receiver that hangs would hold up the server's end.
        receiver.close();
        cay.close();
    }

    final void restart() throws Exception {
        cay.close();
        cay = TestServer.on(open(), directory, cay.node, cay.clock, cay.key);
    }

    final JsonNode webhook(String events) {
        var answer = cay.call("POST", "/events/webhooks", """
                {"name": "mine", "url": "%s", "events": %s, "signatureSecret": "geheim"}
                """.formatted(receiver.url(), events));
        assertThat(answer.status()).as(answer.text()).isEqualTo(201);
        return answer.json();
    }

    final String hook() {
        return webhook(ALL).get("id").stringValue();
    }

    /// One that outlives what tests do with the clock.
    final String sandbox() {
        return cay.create("{\"templateID\":\"base\",\"timeout\":86400}")
                .get("sandboxID")
                .stringValue();
    }

    final void touch(String sandbox) {
        assertThat(cay.call("POST", "/sandboxes/" + sandbox + "/timeout", "{\"timeout\":80000}")
                        .status())
                .isEqualTo(204);
    }

    final void await(String sandbox, String... labels) {
        TestServer.await(
                "deliveries " + List.of(labels) + " of " + receiver.requests.size() + " requests",
                () -> receiver.taken(sandbox).equals(List.of(labels)));
    }

    final void awaitRequests(int count) {
        TestServer.await("%d requests".formatted(count), () -> receiver.requests.size() >= count);
    }

    final JsonNode deliveries(String hook, String query) {
        var answer = cay.call("GET", "/events/webhooks/" + hook + "/deliveries" + query);
        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
        return answer.json();
    }

    /// The attempt was written down, so what follows from it counts from the clock of now.
    final void awaitAttempts(String hook, long count) {
        TestServer.await("%d attempts on record".formatted(count), () -> attempts(hook) >= count);
    }

    final long attempts(String hook) {
        return cay.call(
                        "GET",
                        "/events/webhooks/" + hook + "/stats?start=2026-09-14T00:00:00Z&end=2026-09-30T00:00:00Z")
                .json()
                .get("total")
                .longValue();
    }

    static String signature(String secret, String body) throws Exception {
        var digest = MessageDigest.getInstance("SHA-256").digest((secret + body).getBytes(StandardCharsets.UTF_8));
        return Base64.getUrlEncoder().withoutPadding().encodeToString(digest);
    }

    @Test
    void anEventArrivesSignedAsTheContractSays() throws Exception {
        assertThat(signature("secret", "{\"id\":\"1\"}")).isEqualTo("g9GVspAMpMVO02eBYKI8LqYg8lbg1Z8T069M83IWUuQ");
        var hook = webhook(ALL);
        String id = sandbox();
        awaitRequests(1);
        var request = receiver.requests.getFirst();
        assertThat(request.headers())
                .containsEntry("e2b-webhook-id", hook.get("id").stringValue())
                .containsEntry("e2b-signature-version", "v1")
                .containsEntry("content-type", "application/json")
                .containsEntry("e2b-signature", signature("geheim", request.body()));
        assertThat(request.headers().get("e2b-delivery-id")).hasSize(36);
        assertThat(request.json())
                .isEqualTo(cay.call("GET", "/events/sandboxes/" + id).json().get(0));
        assertThat(hook.get("enabled").booleanValue()).isTrue();
        assertThat(hook.get("teamId").stringValue()).hasSize(36);
        assertThat(hook.propertyNames()).doesNotContain("signatureSecret", "secret");
    }

    @Test
    void allEventsOfASandboxArriveInOrderAndOnlyThoseWanted() {
        hook();
        webhook("[\"sandbox.lifecycle.killed\"]");
        String id = sandbox();
        touch(id);
        cay.call("POST", "/sandboxes/" + id + "/pause");
        cay.call("POST", "/v2/sandboxes/" + id + "/connect", "{\"timeout\":100}");
        cay.call("DELETE", "/sandboxes/" + id);
        TestServer.await("six requests", () -> receiver.requests.size() >= 6);
        var byHook = new TreeMap<Integer, List<String>>();
        receiver.requests.stream()
                .collect(Collectors.groupingBy(
                        request -> String.valueOf(request.headers().get("e2b-webhook-id"))))
                .values()
                .forEach(requests -> byHook.put(
                        requests.size(),
                        requests.stream().map(Receiver.Request::label).toList()));
        assertThat(byHook)
                .isEqualTo(Map.of(5, List.of("create", "update", "pause", "resume", "kill"), 1, List.of("kill")));
    }

    @Test
    void aFailingReceiverGetsThreeMoreAttemptsTenSecondsApartAndThenRarerOnes() {
        String hook = hook();
        receiver.status = 500;
        String id = sandbox();
        touch(id);
        for (int attempt = 1; attempt <= 4; attempt++) {
            awaitAttempts(hook, attempt);
            cay.clock.pass(Duration.ofSeconds(9));
            assertQuiet(attempt);
            cay.clock.pass(Duration.ofSeconds(1));
            if (attempt == 4) {
                assertQuiet(attempt);
                cay.clock.pass(Duration.ofSeconds(50));
            }
        }
        awaitAttempts(hook, 5);
        receiver.status = 204;
        cay.clock.pass(Duration.ofMinutes(2));
        await(id, "create", "update");
        assertThat(receiver.requests.stream().map(Receiver.Request::label).toList())
                .containsExactly("create", "create", "create", "create", "create", "create", "update");
        assertThat(receiver.requests.stream()
                        .map(request -> request.headers().get("e2b-delivery-id"))
                        .distinct())
                .hasSize(7);
        assertThat(receiver.requests.subList(0, 6).stream()
                        .map(Receiver.Request::body)
                        .distinct())
                .hasSize(1);
    }

    /// Nothing more arrives than what did.
    private void assertQuiet(int requests) {
        try {
            Thread.sleep(100);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        assertThat(receiver.requests.stream().map(request -> request.sandbox() + " " + request.label()))
                .hasSize(requests);
    }

    @Test
    void aSandboxWhoseEventFailsHoldsUpNoOther() {
        String hook = hook();
        receiver.status = 500;
        String failing = sandbox();
        awaitAttempts(hook, 1);
        receiver.status = 200;
        String other = sandbox();
        await(other, "create");
        touch(failing);
        touch(other);
        await(other, "create", "update");
        assertThat(receiver.taken(failing)).isEmpty();
        cay.clock.pass(Duration.ofSeconds(10));
        await(failing, "create", "update");
    }

    @Test
    void anEventHoldsBackLaterOnesOfItsSandboxForAnHourAndStaysOpenAfterwards() {
        String hook = hook();
        receiver.refuses = request -> request.label().equals("create");
        String id = sandbox();
        awaitAttempts(hook, 1);
        touch(id);
        long attempts = 1;
        for (int minute = 0; minute < 59; minute += 15) {
            cay.clock.pass(Duration.ofMinutes(minute == 45 ? 14 : 15));
            awaitAttempts(hook, ++attempts);
            assertThat(receiver.taken(id)).isEmpty();
        }
        cay.clock.pass(Duration.ofMinutes(1));
        await(id, "update");
        touch(id);
        await(id, "update", "update");
        receiver.refuses = _ -> false;
        cay.clock.pass(Duration.ofMinutes(30));
        await(id, "update", "update", "create");
    }

    /// Otherwise the last of ten events would be tried first after nine hours.
    @Test
    void eventsThatWaitedTogetherAreLetGoTogether() {
        String hook = hook();
        receiver.status = 503;
        String id = sandbox();
        awaitAttempts(hook, 1);
        touch(id);
        touch(id);
        touch(id);
        cay.clock.pass(Duration.ofMinutes(61));
        TestServer.await(
                "an attempt for each event",
                () -> receiver.requests.stream()
                                .map(Receiver.Request::id)
                                .distinct()
                                .count()
                        == 4);
        assertThat(receiver.requests.stream()
                        .map(Receiver.Request::id)
                        .distinct()
                        .toList())
                .isEqualTo(eventIds(id));
        // Two of the first event.
        awaitAttempts(hook, 5);
        receiver.status = 200;
        for (int i = 0; i < 4; i++) {
            cay.clock.pass(Duration.ofMinutes(30));
        }
        TestServer.await("all events", () -> receiver.taken(id).size() == 4);
    }

    /// Oldest first.
    private List<String> eventIds(String sandbox) {
        return cay.call("GET", "/events/sandboxes/" + sandbox + "?orderAsc=true&limit=100").json().values().stream()
                .map(event -> event.get("id").stringValue())
                .toList();
    }

    /// Passes time in steps that are short enough for every attempt.
    private void passFailing(String hook, Duration time) {
        for (long passed = 0; passed < time.toMinutes(); passed += 30) {
            long before = attempts(hook);
            cay.clock.pass(Duration.ofMinutes(30));
            TestServer.await("one more attempt", () -> attempts(hook) > before || !enabled(hook));
        }
    }

    private boolean enabled(String hook) {
        return cay.call("GET", "/events/webhooks/" + hook).json().get("enabled").booleanValue();
    }

    @Test
    void aWebhookAtWhichNothingArrivesForADayIsSwitchedOffAndSaysWhy() {
        String hook = hook();
        receiver.status = 500;
        String id = sandbox();
        awaitAttempts(hook, 1);
        touch(id);
        passFailing(hook, Duration.ofHours(23));
        assertThat(enabled(hook)).isTrue();
        passFailing(hook, Duration.ofHours(2));
        var off = cay.call("GET", "/events/webhooks/" + hook).json();
        assertThat(off.get("enabled").booleanValue()).isFalse();
        assertThat(off.get("disabledReason").stringValue()).contains("2026-09-21T10:00:00Z", "answered 500");
        assertThat(off.has("disabledAt")).isTrue();
        String entries = "/admin/audit?action=webhook.disable";
        TestServer.await(
                "the entry", () -> !cay.admin("GET", entries, "").json().isEmpty());
        var entry = cay.admin("GET", entries, "").json().get(0);
        assertThat(entry.get("webhook")).isEqualTo(off.get("id"));
        assertThat(entry.get("actor").stringValue()).isEqualTo("daemon");
        assertThat(entry.has("team")).isTrue();
        assertGivenUp(hook, id, "switched off");
        receiver.status = 200;
        int before = receiver.requests.size();
        String later = cay.create();
        cay.clock.pass(Duration.ofMinutes(30));
        assertQuiet(before);
        assertThat(cay.call("POST", "/events/webhooks/" + hook + "/redeliveries", "{\"failed\":true}")
                        .message())
                .contains("enable it first");

        var on = cay.call("PATCH", "/events/webhooks/" + hook, "{\"enabled\":true}")
                .json();
        assertThat(on.get("enabled").booleanValue()).isTrue();
        assertThat(on.has("disabledReason")).isFalse();
        var again = cay.call("POST", "/events/webhooks/" + hook + "/redeliveries", "{\"failed\":true}");
        assertThat(again.status()).isEqualTo(202);
        assertThat(again.json().get("events").intValue()).isGreaterThanOrEqualTo(2);
        TestServer.await("both events", () -> receiver.taken(id).containsAll(List.of("create", "update")));
        // The sandbox's end never failed for a day: it is sent as soon as the webhook is enabled.
        assertThat(receiver.taken(id))
                .filteredOn(label -> !label.equals("kill"))
                .containsExactly("create", "update");
        assertThat(receiver.taken(later)).doesNotContain("create");
    }

    @Test
    void anEventThatNobodyTakesForADayIsGivenUpAndTheWebhookGoesOnIfOthersArrive() {
        String hook = hook();
        String id = cay.create("{\"templateID\":\"base\",\"timeout\":60}")
                .get("sandboxID")
                .stringValue();
        await(id, "create");
        receiver.refuses = request -> request.sandbox().equals(id);
        cay.call("DELETE", "/sandboxes/" + id);
        awaitAttempts(hook, 2);
        for (int hour = 0; hour < 24; hour++) {
            passFailing(hook, Duration.ofHours(1));
            if (hour == 12) {
                String other = cay.create();
                await(other, "create");
                // Else its time is over at some moment of the hours that follow.
                cay.call("DELETE", "/sandboxes/" + other);
                await(other, "create", "kill");
                awaitAttempts(hook, receiver.requests.size());
            }
        }
        int before = receiver.requests.size();
        cay.clock.pass(Duration.ofHours(2));
        assertQuiet(before);
        assertThat(enabled(hook)).isTrue();
        receiver.refuses = _ -> false;
        String killed = eventIds(id).getLast();
        var again = cay.call("POST", "/events/webhooks/" + hook + "/redeliveries", "{\"eventId\":\"" + killed + "\"}");
        assertThat(again.status()).isEqualTo(202);
        await(id, "create", "kill");
        var unknown = cay.call("POST", "/events/webhooks/" + hook + "/redeliveries", "{\"eventId\":\"none\"}");
        assertThat(unknown.status()).isEqualTo(404);
    }

    /// Later events were sent already when somebody asks for this one again.
    @Test
    void anEventThatIsSentAgainAndFailsHoldsUpNothingAndIsSoonGivenUp() {
        String hook = hook();
        String id = sandbox();
        await(id, "create");
        awaitAttempts(hook, 1);
        receiver.refuses = request -> request.label().equals("create");
        String created = eventIds(id).getFirst();
        String path = "/events/webhooks/" + hook + "/redeliveries";
        assertThat(cay.call("POST", path, "{\"eventId\":\"" + created + "\"}").status())
                .isEqualTo(202);
        awaitAttempts(hook, 2);
        touch(id);
        await(id, "create", "update");
        awaitAttempts(hook, 3);
        for (int retry = 1; retry <= 3; retry++) {
            assertThat(states(id)).containsExactlyInAnyOrder("OPEN", "DELIVERED");
            cay.clock.pass(Duration.ofSeconds(10));
            awaitAttempts(hook, 3 + retry);
        }
        TestServer.await("given up", () -> states(id).contains("FAILED"));
        cay.clock.pass(Duration.ofHours(2));
        assertQuiet(6);
        receiver.refuses = _ -> false;
        assertThat(cay.call("POST", path, "{\"failed\":true}").text()).isEqualTo("{\"events\":1,\"left\":0}");
        await(id, "create", "update", "create");
    }

    /// It goes on as before: a day is a day, however often somebody asks.
    @Test
    void anOpenEventThatIsSentAgainIsDueAtOnceAndKeepsItsPlace() {
        String hook = hook();
        receiver.status = 500;
        String id = sandbox();
        awaitAttempts(hook, 1);
        touch(id);
        String created = eventIds(id).getFirst();
        cay.call("POST", "/events/webhooks/" + hook + "/redeliveries", "{\"eventId\":\"" + created + "\"}");
        awaitAttempts(hook, 2);
        assertQuiet(2);
        receiver.status = 200;
        cay.clock.pass(Duration.ofSeconds(10));
        await(id, "create", "update");
    }

    @Test
    void whatWasNotSentIsSentAfterARestartInOrder() throws Exception {
        String hook = hook();
        receiver.status = Receiver.BREAK;
        String id = sandbox();
        awaitAttempts(hook, 1);
        touch(id);
        restart();
        receiver.status = 200;
        cay.call("DELETE", "/sandboxes/" + id);
        cay.clock.pass(Duration.ofSeconds(10));
        await(id, "create", "update", "kill");
    }

    /// As after a crash between the answer and the commit.
    @Test
    void anAttemptThatWasNotWrittenDownIsMadeAgain() throws Exception {
        hook();
        receiver.onRequest = () -> cay.store.away = true;
        String id = sandbox();
        awaitRequests(1);
        cay.close();
        receiver.onRequest = () -> {};
        cay.store.away = false;
        cay = TestServer.on(open(), directory, cay.node, cay.clock, cay.key);
        TestServer.await("the same event again", () -> receiver.requests.size() == 2);
        assertThat(receiver.taken(id)).containsExactly("create", "create");
        assertThat(receiver.requests.stream().map(Receiver.Request::id).distinct())
                .hasSize(1);
    }

    /// A database that cannot be written must not make Cay send the same again and again.
    @Test
    void anAttemptThatCannotBeWrittenDownYetIsNotRepeated() {
        String hook = hook();
        receiver.onRequest = () -> cay.store.away = true;
        String id = sandbox();
        awaitRequests(1);
        assertQuiet(1);
        cay.store.away = false;
        receiver.onRequest = () -> {};
        awaitAttempts(hook, 1);
        assertThat(receiver.taken(id)).containsExactly("create");
    }

    @Test
    void aReceiverThatHangsIsLeftAndGetsFewRequestsAtATime() {
        String hook = hook();
        receiver.status = Receiver.HANG;
        for (int i = 0; i < 10; i++) {
            cay.create();
        }
        awaitRequests(4);
        assertQuiet(4);
        awaitAttempts(hook, 4);
        var attempt = deliveries(hook, "").get("data").get(0).get("attempts").get(0);
        assertThat(attempt.get("errorClass").stringValue()).isEqualTo("timeout");
        assertThat(attempt.get("durationMs").intValue()).isBetween(1900, 10_000);
    }

    @Test
    void redirectsAreNotFollowed() throws Exception {
        try (var other = new Receiver()) {
            String hook = hook();
            receiver.location = other.url();
            receiver.status = 307;
            sandbox();
            awaitAttempts(hook, 1);
            assertThat(other.requests).isEmpty();
            var attempt =
                    deliveries(hook, "").get("data").get(0).get("attempts").get(0);
            assertThat(attempt.get("errorClass").stringValue()).isEqualTo("http_error");
            assertThat(attempt.get("errorMessage").stringValue()).contains("redirects are not followed");
        }
    }

    @Test
    void deliveriesTellWhatWasSentAndStatsHowMuch() {
        String hook = hook();
        receiver.refuses = request -> request.label().equals("create");
        String id = sandbox();
        awaitAttempts(hook, 1);
        receiver.refuses = _ -> false;
        cay.clock.pass(Duration.ofSeconds(10));
        await(id, "create");
        touch(id);
        await(id, "create", "update");
        awaitAttempts(hook, 3);
        var groups = deliveries(hook, "").get("data");
        assertThat(groups).hasSize(2);
        var group = groups.get(1);
        assertThat(group.get("eventId").stringValue()).isEqualTo(eventIds(id).getFirst());
        assertThat(group.get("eventType").stringValue()).isEqualTo("sandbox.lifecycle.created");
        assertThat(group.get("sandboxId").stringValue()).isEqualTo(id);
        assertThat(group.get("state").stringValue()).isEqualTo("delivered");
        assertThat(group.get("attempts")).hasSize(2);
        var failed = group.get("attempts").get(0);
        assertThat(failed.get("status").stringValue()).isEqualTo("failed");
        assertThat(failed.get("errorClass").stringValue()).isEqualTo("http_error");
        assertThat(failed.get("responseHttpStatusCode").intValue()).isEqualTo(500);
        assertThat(failed.get("responseBody").stringValue()).isEqualTo("said 500");
        assertThat(failed.get("requestBody").stringValue())
                .isEqualTo(receiver.requests.getFirst().body());
        assertThat(failed.get("requestUrl").stringValue()).isEqualTo(receiver.url());
        assertThat(failed.get("requestHeaders").stringValue())
                .contains("e2b-delivery-id", failed.get("id").stringValue())
                .doesNotContain(receiver.requests.getFirst().headers().get("e2b-signature"));
        var succeeded = group.get("attempts").get(1);
        assertThat(succeeded.get("status").stringValue()).isEqualTo("success");
        assertThat(succeeded.get("errorClass").isNull()).isTrue();
        checkFilters(hook);
        var stats = cay.call("GET", "/events/webhooks/" + hook + "/stats").json();
        assertThat(stats.get("total").intValue()).isEqualTo(3);
        assertThat(stats.get("failed").intValue()).isEqualTo(1);
        assertThat(stats.get("buckets")).hasSize(25);
        assertThat(stats.get("durationMs").get("maximum").doubleValue())
                .isGreaterThanOrEqualTo(stats.get("durationMs").get("average").doubleValue());
    }

    /// However many attempts there are, other requests do not wait for statistics.
    @Test
    void statsReadABoundedNumberOfAttempts() {
        String hook = hook();
        Instant now = cay.clock.instant();
        cay.store.write(handle -> handle.createUpdate("""
                        INSERT INTO webhook_attempt (id, webhook_id, event_id, started_at, duration_ms, url,
                            request_headers, error_class)
                        WITH RECURSIVE number (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM number WHERE n < 119999)
                        SELECT 'a' || n, :hook, 'e' || n, :now - n, CASE WHEN n < 100000 THEN 5 ELSE 7000 END, 'u',
                            '{}', CASE WHEN n % 2 = 0 THEN 'TIMEOUT' END
                        FROM number WHERE true ON CONFLICT (id) DO NOTHING
                        """)
                .bind("hook", hook)
                .bind("now", now.toEpochMilli())
                .execute());
        var stats = cay.call("GET", "/events/webhooks/" + hook + "/stats").json();
        assertThat(stats.get("total").intValue()).isEqualTo(100_000);
        assertThat(stats.get("failed").intValue()).isEqualTo(50_000);
        assertThat(stats.get("durationMs").get("maximum").intValue()).isEqualTo(5);
        String older = "/events/webhooks/%s/stats?end=%s".formatted(hook, now.minusMillis(100_000));
        assertThat(cay.call("GET", older).json().get("total").intValue()).isEqualTo(19_999);
    }

    private void checkFilters(String hook) {
        assertThat(deliveries(hook, "?deliveryStatus=failed").get("data")).isEmpty();
        assertThat(deliveries(hook, "?deliveryStatus=failed,success").get("data"))
                .hasSize(2);
        assertThat(deliveries(hook, "?eventType=sandbox.lifecycle.updated").get("data"))
                .hasSize(1);
        assertThat(deliveries(hook, "?eventType=sandbox.lifecycle.updated&eventType=sandbox.lifecycle.created")
                        .get("data"))
                .hasSize(2);
        assertThat(deliveries(hook, "?start=2026-09-21T10:00:01Z").get("data")).hasSize(1);
        assertThat(deliveries(hook, "?end=2026-09-21T10:00:01Z").get("data")).hasSize(1);
        var first = deliveries(hook, "?limit=1&orderAsc=true");
        assertThat(first.get("data").get(0).get("eventType").stringValue()).endsWith("created");
        var second = deliveries(
                hook, "?limit=1&orderAsc=true&cursor=" + first.get("nextCursor").stringValue());
        assertThat(second.get("data").get(0).get("eventType").stringValue()).endsWith("updated");
        assertThat(second.get("nextCursor").isNull()).isTrue();
        for (String wrong : List.of("limit=0", "deliveryStatus=x", "eventType=x", "start=x", "cursor=x")) {
            assertThat(cay.call("GET", "/events/webhooks/" + hook + "/deliveries?" + wrong)
                            .status())
                    .as(wrong)
                    .isEqualTo(400);
        }
    }

    @Test
    void aWebhookIsChangedAndDeletedAndThenGetsNothing() throws Exception {
        String hook = hook();
        String path = "/events/webhooks/" + hook;
        var changed = cay.call("PATCH", path, "{\"signatureSecret\":\"other\",\"name\":\"new\"}");
        assertThat(changed.status()).isEqualTo(200);
        assertThat(changed.json().get("name").stringValue()).isEqualTo("new");
        assertThat(changed.text()).doesNotContain("other", "geheim");
        String id = sandbox();
        awaitRequests(1);
        var request = receiver.requests.getFirst();
        assertThat(request.headers()).containsEntry("e2b-signature", signature("other", request.body()));
        // An attempt that is not on record yet may be made again.
        awaitAttempts(hook, 1);
        cay.call("PATCH", path, "{\"events\":[\"sandbox.lifecycle.killed\"]}");
        touch(id);
        cay.call("PATCH", path, "{\"enabled\":false}");
        cay.call("DELETE", "/sandboxes/" + id);
        assertQuiet(1);
        assertThat(cay.call("GET", "/events/webhooks").json()).hasSize(1);
        cay.call("PATCH", path, "{\"enabled\":true}");
        assertThat(cay.call("DELETE", path).status()).isEqualTo(200);
        assertThat(cay.call("GET", path).status()).isEqualTo(404);
        assertThat(cay.call("DELETE", path).status()).isEqualTo(404);
        assertThat(cay.call("GET", "/events/webhooks").json()).isEmpty();
        sandbox();
        assertQuiet(1);
    }

    @Test
    void theSecretIsSealedInTheDatabase() {
        String hook = hook();
        String kept = cay.store.read(handle -> handle.createQuery("SELECT secret FROM webhook WHERE id = :id")
                .bind("id", hook)
                .mapTo(String.class)
                .one());
        assertThat(kept).isNotEmpty().doesNotContain("geheim");
        assertThat(new String(Base64.getDecoder().decode(kept), StandardCharsets.ISO_8859_1))
                .doesNotContain("geheim");
        assertThat(cay.call("GET", "/events/webhooks/" + hook).text()).doesNotContain("geheim", kept);
    }

    @Test
    void aTestTellsAtOnceWhetherTheReceiverAnswers() throws Exception {
        String path = "/events/webhooks/" + hook() + "/test";
        assertThat(cay.call("POST", path).json().get("status").stringValue()).isEqualTo("success");
        var request = receiver.requests.getFirst();
        assertThat(request.json().get("type").stringValue()).isEqualTo("cay.webhook.test");
        assertThat(request.headers()).containsEntry("e2b-signature", signature("geheim", request.body()));
        receiver.close();
        var failed = cay.call("POST", path).json();
        assertThat(failed.get("status").stringValue()).isEqualTo("failed");
        assertThat(failed.get("errorClass").stringValue()).isEqualTo("transport_error");
    }

    /// A team that fills the database while its receiver is away would fill it for all.
    @Test
    void whatIsTooMuchForAReceiverIsGivenUpAndCanBeSentLater() throws Exception {
        String hook = hook();
        long later = cay.clock.instant().plusSeconds(600).toEpochMilli();
        cay.store.write(handle -> handle.execute("""
                INSERT INTO webhook_message (webhook_id, event_id, event_type, sandbox_id, body, state, attempts,
                    created_at, next_at)
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9999)
                SELECT ?, 'e' || i, 'x', 'other', '{}', 'OPEN', 0, ?, ? FROM n WHERE i > 0
                ON CONFLICT (webhook_id, event_id) DO NOTHING
                """, hook, later, later));
        String last = sandbox();
        TestServer.await("delivered", () -> states(last).equals(List.of("DELIVERED")));
        cay.store.write(handle -> handle.execute("""
                INSERT INTO webhook_message (webhook_id, event_id, event_type, sandbox_id, body, state, attempts,
                    created_at, next_at)
                VALUES (?, 'one more', 'x', 'other', '{}', 'OPEN', 0, ?, ?)
                ON CONFLICT (webhook_id, event_id) DO NOTHING
                """, hook, later, later));
        awaitFull(1);
        String tooMany = sandbox();
        assertThat(states(tooMany)).containsExactly("FAILED");
        assertGivenUp(hook, tooMany, "10000 events waited");
        cay.store.write(handle -> handle.execute("DELETE FROM webhook_message WHERE sandbox_id = 'other'"));
        var again = cay.call("POST", "/events/webhooks/%s/redeliveries".formatted(hook), "{\"failed\":true}");
        assertThat(again.status()).as(again.text()).isEqualTo(202);
        assertThat(again.text()).isEqualTo("{\"events\":1,\"left\":0}");
        await(tooMany, "create");
        TestServer.await("the record", () -> states(tooMany).equals(List.of("DELIVERED")));
        assertThat(deliveries(hook, "?deliveryStatus=failed").get("data")).isEmpty();
        awaitFull(0);
        await(sandbox(), "create");
    }

    /// The event is in the list with the reason, though no request was made for it.
    private void assertGivenUp(String hook, String sandbox, String reason) {
        var lasts = deliveries(hook, "?deliveryStatus=failed").get("data").values().stream()
                .filter(group -> group.get("sandboxId").stringValue().equals(sandbox))
                .filter(group -> group.get("state").stringValue().equals("given-up"))
                .map(group -> group.get("attempts"))
                .map(attempts -> attempts.get(attempts.size() - 1))
                .filter(attempt -> attempt.get("errorMessage").stringValue().contains(reason))
                .toList();
        assertThat(lasts).isNotEmpty();
        var last = lasts.getFirst();
        assertThat(last.get("status").stringValue()).isEqualTo("failed");
        assertThat(last.get("errorClass").stringValue()).isEqualTo("canceled");
        assertThat(last.get("errorMessage").stringValue()).contains("redeliver it");
        assertThat(last.get("requestBody").stringValue()).contains(sandbox);
        assertThat(last.get("id").stringValue()).hasSize(36);
        assertThat(deliveries(hook, "?deliveryStatus=success").get("data").values().stream()
                        .map(group -> group.get("sandboxId").stringValue()))
                .doesNotContain(sandbox);
    }

    private void awaitFull(int webhooks) {
        TestServer.await(
                webhooks + " full webhooks",
                () -> cay.store.<Integer>read(
                                handle -> handle.createQuery("SELECT count(*) FROM webhook WHERE is_full = 1")
                                        .mapTo(Integer.class)
                                        .one())
                        == webhooks);
    }

    /// Otherwise a team would make others wait for one transaction as long as it likes, and fill the database.
    @Test
    void onlySoManyAreSentAgainAtATime() throws Exception {
        String hook = hook();
        receiver.status = Receiver.HANG;
        cay.store.write(handle -> handle.execute("""
                INSERT INTO webhook_message (webhook_id, event_id, event_type, sandbox_id, body, state, attempts,
                    created_at, next_at)
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10010)
                SELECT ?, 'e' || i, 'x', 'other', '{}', 'FAILED', 0, ?, 0 FROM n WHERE i > 0
                ON CONFLICT (webhook_id, event_id) DO NOTHING
                """, hook, cay.clock.instant().toEpochMilli()));
        String path = "/events/webhooks/%s/redeliveries".formatted(hook);
        var first = cay.call("POST", path, "{\"failed\":true}");
        assertThat(first.text()).isEqualTo("{\"events\":10000,\"left\":10}");
        assertThat(cay.store.<List<String>>read(handle -> handle.createQuery(
                                "SELECT event_id FROM webhook_message WHERE state = 'FAILED' ORDER BY sequence")
                        .mapTo(String.class)
                        .list()))
                .hasSize(10)
                .startsWith("e10001")
                .endsWith("e10010");
        var second = cay.call("POST", path, "{\"failed\":true}");
        assertThat(second.status()).as(second.text()).isEqualTo(409);
        assertThat(second.message()).contains("10000 events wait");
    }

    /// Others wait for the database while one request looks for what is not there.
    @Test
    void oneRequestLooksAtSoManyDeliveriesAndNoMore() {
        String hook = hook();
        cay.store.write(handle -> handle.execute("""
                INSERT INTO webhook_message (webhook_id, event_id, event_type, sandbox_id, body, state, attempts,
                    created_at, next_at)
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12000)
                SELECT ?, 'e' || i, 'sandbox.lifecycle.updated', 'other', '{}', 'DELIVERED', 0, ?, 0 FROM n WHERE i > 0
                ON CONFLICT (webhook_id, event_id) DO NOTHING
                """, hook, cay.clock.instant().toEpochMilli()));
        cay.store.write(handle -> handle.execute("""
                INSERT INTO webhook_attempt (id, webhook_id, event_id, started_at, duration_ms, url, request_headers,
                    error_class, error_message)
                SELECT 'a' || event_id, webhook_id, event_id, 0, 1, 'u', '{}',
                    CASE WHEN event_id IN ('e1', 'e7000') THEN 'TIMEOUT' END, NULL
                FROM webhook_message WHERE webhook_id = ? AND event_id LIKE 'e%'
                ON CONFLICT (id) DO NOTHING
                """, hook));
        for (boolean ascending : List.of(false, true)) {
            var events = new ArrayList<String>();
            int pages = 0;
            String cursor = "";
            do {
                var page =
                        deliveries(hook, "?deliveryStatus=failed&orderAsc=%s&cursor=%s".formatted(ascending, cursor));
                page.get("data")
                        .forEach(group -> events.add(group.get("eventId").stringValue()));
                var next = page.get("nextCursor");
                cursor = next.isNull() ? "" : next.stringValue();
                pages++;
            } while (!cursor.isEmpty());
            assertThat(events).isEqualTo(ascending ? List.of("e1", "e7000") : List.of("e7000", "e1"));
            assertThat(pages).isEqualTo(3);
        }
    }

    /// The same for events of all sandboxes, of which a rare type is asked for.
    @Test
    void eventsAreListedPageByPageAndOneRequestLooksAtSoMany() {
        String id = sandbox();
        String created = eventIds(id).getFirst();
        for (int from = 0; from < 120_000; from += 20_000) {
            long first = from + 1;
            cay.store.write(handle -> handle.execute("""
                INSERT INTO event (id, type, team_id, sandbox_id, template_id, build_id, execution_id, data, happened_at)
                WITH RECURSIVE n(i) AS (SELECT CAST(? AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < ?)
                SELECT 'e' || i, CASE WHEN i IN (5, 110000) THEN 'KILLED' ELSE 'UPDATED' END, team_id, sandbox_id,
                    template_id, build_id, execution_id, '{}', happened_at
                FROM event, n WHERE id = ? AND i > 0 ON CONFLICT (id) DO NOTHING
                """, first, first + 19_999, created));
        }
        for (String path : List.of("/events/sandboxes", "/events/sandboxes/" + id)) {
            for (boolean ascending : List.of(false, true)) {
                var killed = pages(path + "?types=sandbox.lifecycle.killed&orderAsc=" + ascending);
                assertThat(killed.stream().flatMap(List::stream).toList())
                        .isEqualTo(ascending ? List.of("e5", "e110000") : List.of("e110000", "e5"));
                assertThat(killed).hasSize(2);
            }
            var first = cay.call("GET", path + "?limit=100");
            assertThat(first.json().get(0).get("id").stringValue()).isEqualTo("e120000");
            var second = cay.call("GET", path + "?limit=100&nextToken=" + first.header("X-Next-Token"));
            assertThat(second.json().get(0).get("id").stringValue()).isEqualTo("e119900");
            assertThat(cay.call("GET", path + "?limit=1&offset=10000")
                            .json()
                            .get(0)
                            .get("id")
                            .stringValue())
                    .isEqualTo("e110000");
            var tooFar = cay.call("GET", path + "?offset=10001");
            assertThat(tooFar.status()).isEqualTo(400);
            assertThat(tooFar.message()).contains("'offset' must be at most 10000", "nextToken");
            assertThat(cay.call("GET", path + "?nextToken=x").status()).isEqualTo(400);
        }
    }

    private List<List<String>> pages(String path) {
        var pages = new ArrayList<List<String>>();
        String token = "";
        do {
            var answer = cay.call("GET", path + "&nextToken=" + token);
            assertThat(answer.status()).as(answer.text()).isEqualTo(200);
            pages.add(answer.json().values().stream()
                    .map(event -> event.get("id").stringValue())
                    .toList());
            token = answer.header("X-Next-Token");
        } while (token != null);
        return pages;
    }

    /// A page is made in memory as a whole.
    @Test
    void aPageOfDeliveriesIsNeverHuge() throws Exception {
        String hook = hook();
        String body = "{\"x\": \"%s\"}".formatted("x".repeat(100_000));
        cay.store.write(
                handle -> handle.execute("""
                INSERT INTO webhook_message (webhook_id, event_id, event_type, sandbox_id, body, state, attempts,
                    created_at, next_at)
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
                SELECT ?, 'e' || i, 'sandbox.lifecycle.updated', 'other', ?, 'FAILED', 0, ?, 0 FROM n WHERE i > 0
                ON CONFLICT (webhook_id, event_id) DO NOTHING
                """, hook, body, cay.clock.instant().toEpochMilli()));
        cay.store.write(handle -> handle.execute("""
                INSERT INTO webhook_attempt (id, webhook_id, event_id, started_at, duration_ms, url, request_headers,
                    error_class, error_message)
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 800)
                SELECT 'a' || i, ?, 'e' || (i % 40 + 1), i, 1, 'u', '{}', 'TIMEOUT', 'no answer' FROM n WHERE i > 0
                ON CONFLICT (id) DO NOTHING
                """, hook));
        var events = new ArrayList<String>();
        String cursor = "";
        do {
            var answer = cay.call("GET", "/events/webhooks/%s/deliveries?limit=100&cursor=%s".formatted(hook, cursor));
            assertThat(answer.text().length()).isLessThan(11_000_000);
            answer.json().get("data").forEach(group -> {
                events.add(group.get("eventId").stringValue());
                assertThat(group.get("attempts")).hasSize(20);
            });
            var next = answer.json().get("nextCursor");
            cursor = next.isNull() ? "" : next.stringValue();
        } while (!cursor.isEmpty());
        assertThat(events).hasSize(40).doesNotHaveDuplicates().startsWith("e40").endsWith("e1");
    }

    /// 50 updates of 60 KB for 20 webhooks would be 123 MB if each message had its own.
    @Test
    void largeMetadataIsStoredOnceHoweverOftenItIsSentAndToHowManyWebhooks() {
        String hook = hook();
        for (int i = 1; i < 20; i++) {
            webhook("[\"sandbox.lifecycle.updated\"]");
        }
        String large = "m".repeat(60_000);
        String id = cay.create(
                        "{\"templateID\":\"base\",\"timeout\":86400,\"metadata\":{\"large\":\"%s\"}}".formatted(large))
                .get("sandboxID")
                .stringValue();
        for (int i = 0; i < 50; i++) {
            touch(id);
        }
        awaitRequests(1001);
        assertThat(storedBytes()).isBetween(60_000L, 3_000_000L);
        assertThat(receiver.requests).allSatisfy(request -> {
            assertThat(metadata(request.json().get("eventData"))).isEqualTo(large);
            assertThat(request.json().get("event_data"))
                    .isEqualTo(request.json().get("eventData"));
        });
        var listed = cay.call("GET", "/events/sandboxes/" + id + "?limit=100").json();
        assertThat(listed)
                .hasSize(51)
                .allSatisfy(
                        event -> assertThat(metadata(event.get("eventData"))).isEqualTo(large));
        var sent =
                deliveries(hook, "?limit=1").get("data").get(0).get("attempts").get(0);
        assertThat(sent.get("requestBody").stringValue()).contains(large);

        cay.store.write(handle -> handle.execute("DELETE FROM event_part"));
        var without =
                cay.call("GET", "/events/sandboxes/" + id + "?limit=1").json().get(0);
        assertThat(without.get("eventData").get("cay_not_kept").get(0).stringValue())
                .isEqualTo("sandbox_metadata");
    }

    private static String metadata(JsonNode data) {
        return data.get("sandbox_metadata").get("large").stringValue();
    }

    /// Of all events and messages.
    private long storedBytes() {
        return cay.store.read(
                handle -> handle.createQuery("""
                        SELECT (SELECT COALESCE(SUM(length(body)), 0) FROM webhook_message)
                            + (SELECT SUM(length(data)) FROM event) + (SELECT SUM(length(content)) FROM event_part)
                        """).mapTo(Long.class).one());
    }

    @Test
    void anEventWithLargeDataArrivesWithTheSameBytesAfterARestart() throws Exception {
        String hook = hook();
        receiver.status = 500;
        cay.create("{\"templateID\":\"base\",\"timeout\":86400,\"metadata\":{\"b\":\"%s\",\"a\":\"1\"}}"
                .formatted("m".repeat(9000)));
        awaitAttempts(hook, 1);
        restart();
        receiver.status = 200;
        cay.clock.pass(Duration.ofSeconds(10));
        awaitRequests(2);
        assertThat(receiver.requests.get(1).body())
                .isEqualTo(receiver.requests.get(0).body());
    }

    private List<String> states(String sandbox) {
        return cay.store.read(handle -> handle.createQuery("SELECT state FROM webhook_message WHERE sandbox_id = ?")
                .bind(0, sandbox)
                .mapTo(String.class)
                .list());
    }

    /// A receiver that hangs must not let a client open as many connections as it likes.
    @Test
    void oneTestOfAWebhookWaitsAtATime() throws Exception {
        String path = "/events/webhooks/" + hook() + "/test";
        receiver.status = Receiver.HANG;
        var first = new Thread(() -> cay.call("POST", path));
        first.start();
        TestServer.await("the first test", () -> !receiver.requests.isEmpty());
        var second = cay.call("POST", path);
        assertThat(second.status()).isEqualTo(429);
        assertThat(second.header("Retry-After")).isEqualTo("2");
        assertThat(receiver.requests).hasSize(1);
        first.join();
        receiver.status = 200;
        assertThat(cay.call("POST", path).json().get("status").stringValue()).isEqualTo("success");
    }

    @Test
    void anotherTeamsWebhookIsNotThere() throws Exception {
        String hook = hook();
        String path = "/events/webhooks/" + hook;
        String other = anotherTeam();
        for (String call : List.of(
                "GET ", "PATCH ", "DELETE ", "GET /deliveries", "GET /stats", "POST /redeliveries", "POST /test")) {
            String[] parts = call.split(" ", 2);
            var answer = cay.call(parts[0], path + parts[1], "{\"failed\":true}", "X-API-Key", other);
            assertThat(answer.status()).as(call).isEqualTo(404);
            assertThat(answer.text())
                    .as(call)
                    .isEqualTo(cay.call("GET", "/events/webhooks/" + hook, "", "X-API-Key", other)
                            .text());
        }
        assertThat(cay.call("GET", "/events/webhooks", "", "X-API-Key", other).json())
                .isEmpty();
        assertThat(cay.call("GET", path).json().get("name").stringValue()).isEqualTo("mine");
        var foreign = cay.call("POST", "/v2/sandboxes", "{\"templateID\":\"base\"}", "X-API-Key", other);
        assertThat(foreign.status()).isEqualTo(201);
        String own = sandbox();
        await(own, "create");
        assertThat(receiver.requests).hasSize(1);
    }

    private String anotherTeam() throws Exception {
        String key = cay.server.newKey("other");
        cay.close();
        var store = open();
        store.write(handle -> {
            handle.execute("INSERT INTO team (id, name, slug, created_at) VALUES ('t2', 'b', 'b', 9000000000000000)");
            return handle.execute("UPDATE api_key SET team_id = 't2' WHERE name = 'other'");
        });
        cay = TestServer.on(store, directory, cay.node, cay.clock, cay.key);
        return key;
    }

    @Test
    void addressesThatAreNotPublicAreRefusedAndTheMessageNamesTheSetting() {
        for (String host : List.of(
                "10.0.0.1",
                "127.0.0.2",
                "169.254.169.254",
                "192.168.1.1:8080",
                "[::1]",
                "[::ffff:10.0.0.1]",
                "[fd00::1]",
                "0.0.0.0")) {
            for (String method : List.of("POST", "PATCH")) {
                String path = method.equals("POST") ? "/events/webhooks" : "/events/webhooks/" + hook();
                var answer = cay.call(method, path, """
                        {"name": "n", "url": "http://%s/x", "events": %s, "signatureSecret": "s"}
                        """.formatted(host, ALL));
                assertThat(answer.status()).as(host).isEqualTo(400);
                assertThat(answer.message()).as(host).contains("'url'", "webhooks.allow");
            }
        }
    }

    @Test
    void anOrderThatIsNoneIsRefused() {
        for (String path : List.of("/events/webhooks/%s/deliveries".formatted(hook()), "/events/sandboxes")) {
            var answer = cay.call("GET", path + "?orderAsc=yes");
            assertThat(answer.status()).as(path).isEqualTo(400);
            assertThat(answer.message()).contains("'orderAsc' must be true or false");
            assertThat(cay.call("GET", path + "?orderAsc=TRUE").status()).isEqualTo(200);
        }
    }

    @Test
    void wrongRequestsNameTheField() {
        String url = receiver.url();
        for (String[] wrong : new String[][] {
            {"'name' is required", "{}"},
            {"'url' is required", "{\"name\":\"n\"}"},
            {"'events' is required", "{\"name\":\"n\",\"url\":\"%s\"}".formatted(url)},
            {
                "'signatureSecret' is required",
                "{\"name\":\"n\",\"url\":\"%s\",\"events\":[\"sandbox.lifecycle.killed\"]}".formatted(url)
            },
            {"'events' must name at least one", "{\"events\":[]}"},
            {"'events' has 'x'", "{\"events\":[\"x\"]}"},
            {"'url' must be an address", "{\"url\":\"ftp://127.0.0.1/\"}"},
            {"'url' must be an address", "{\"url\":\"nothing at all\"}"},
            {"'url' must not hold a user", "{\"url\":\"http://u:p@127.0.0.1/\"}"},
            {"'name' must have", "{\"name\":\" \"}"},
            {"'signatureSecret' must have", "{\"signatureSecret\":\"\"}"},
            {"'enabled' must be true or false", "{\"enabled\":1}"}
        }) {
            var answer = cay.call("POST", "/events/webhooks", wrong[1]);
            assertThat(answer.status()).as(wrong[1]).isEqualTo(400);
            assertThat(answer.message()).as(wrong[1]).contains(wrong[0]);
        }
        assertThat(cay.request("GET", "/events/webhooks", Map.of()).status()).isEqualTo(401);
        for (int i = 0; i < 20; i++) {
            hook();
        }
        var tooMany = cay.call("POST", "/events/webhooks", """
                {"name": "n", "url": "%s", "events": %s, "signatureSecret": "s"}
                """.formatted(url, ALL));
        assertThat(tooMany.status()).isEqualTo(409);
        assertThat(tooMany.message()).contains("20 webhooks");
    }
}
