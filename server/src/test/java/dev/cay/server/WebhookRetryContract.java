package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/// What a receiver does not take is sent again, and given up at some time.
interface WebhookRetryContract extends WebhookCalls {
    @Test
    default void aFailingReceiverGetsThreeMoreAttemptsTenSecondsApartAndThenRarerOnes() {
        String hook = hook();
        receiver().status = 500;
        String id = sandbox();
        touch(id);
        for (int attempt = 1; attempt <= 4; attempt++) {
            awaitAttempts(hook, attempt);
            cay().clock.pass(Duration.ofSeconds(9));
            assertQuiet(attempt);
            cay().clock.pass(Duration.ofSeconds(1));
            if (attempt == 4) {
                assertQuiet(attempt);
                cay().clock.pass(Duration.ofSeconds(50));
            }
        }
        awaitAttempts(hook, 5);
        receiver().status = 204;
        cay().clock.pass(Duration.ofMinutes(2));
        await(id, "create", "update");
        assertThat(receiver().requests.stream().map(Receiver.Request::label).toList())
                .containsExactly("create", "create", "create", "create", "create", "create", "update");
        assertThat(receiver().requests.stream()
                        .map(request -> request.headers().get("e2b-delivery-id"))
                        .distinct())
                .hasSize(7);
        assertThat(receiver().requests.subList(0, 6).stream()
                        .map(Receiver.Request::body)
                        .distinct())
                .hasSize(1);
    }

    @Test
    default void aSandboxWhoseEventFailsHoldsUpNoOther() {
        String hook = hook();
        receiver().status = 500;
        String failing = sandbox();
        awaitAttempts(hook, 1);
        receiver().status = 200;
        String other = sandbox();
        await(other, "create");
        touch(failing);
        touch(other);
        await(other, "create", "update");
        assertThat(receiver().taken(failing)).isEmpty();
        cay().clock.pass(Duration.ofSeconds(10));
        await(failing, "create", "update");
    }

    @Test
    default void anEventHoldsBackLaterOnesOfItsSandboxForAnHourAndStaysOpenAfterwards() {
        String hook = hook();
        receiver().refuses = request -> request.label().equals("create");
        String id = sandbox();
        awaitAttempts(hook, 1);
        touch(id);
        long attempts = 1;
        for (int minute = 0; minute < 59; minute += 15) {
            cay().clock.pass(Duration.ofMinutes(minute == 45 ? 14 : 15));
            awaitAttempts(hook, ++attempts);
            assertThat(receiver().taken(id)).isEmpty();
        }
        cay().clock.pass(Duration.ofMinutes(1));
        await(id, "update");
        touch(id);
        await(id, "update", "update");
        receiver().refuses = _ -> false;
        cay().clock.pass(Duration.ofMinutes(30));
        await(id, "update", "update", "create");
    }

    /// Otherwise the last of ten events would be tried first after nine hours.
    @Test
    default void eventsThatWaitedTogetherAreLetGoTogether() {
        String hook = hook();
        receiver().status = 503;
        String id = sandbox();
        awaitAttempts(hook, 1);
        touch(id);
        touch(id);
        touch(id);
        cay().clock.pass(Duration.ofMinutes(61));
        TestServer.await(
                "an attempt for each event",
                () -> receiver().requests.stream()
                                .map(Receiver.Request::id)
                                .distinct()
                                .count()
                        == 4);
        assertThat(receiver().requests.stream()
                        .map(Receiver.Request::id)
                        .distinct()
                        .toList())
                .isEqualTo(eventIds(id));
        // Two of the first event.
        awaitAttempts(hook, 5);
        receiver().status = 200;
        for (int i = 0; i < 4; i++) {
            cay().clock.pass(Duration.ofMinutes(30));
        }
        TestServer.await("all events", () -> receiver().taken(id).size() == 4);
    }

    /// Passes time in steps that are short enough for every attempt.
    private void passFailing(String hook, Duration time) {
        for (long passed = 0; passed < time.toMinutes(); passed += 30) {
            long before = attempts(hook);
            cay().clock.pass(Duration.ofMinutes(30));
            TestServer.await("one more attempt", () -> attempts(hook) > before || !enabled(hook));
        }
    }

    private boolean enabled(String hook) {
        return cay().call("GET", "/events/webhooks/" + hook)
                .json()
                .get("enabled")
                .booleanValue();
    }

    @Test
    default void aWebhookAtWhichNothingArrivesForADayIsSwitchedOffAndSaysWhy() {
        String hook = hook();
        receiver().status = 500;
        String id = sandbox();
        awaitAttempts(hook, 1);
        touch(id);
        passFailing(hook, Duration.ofHours(23));
        assertThat(enabled(hook)).isTrue();
        passFailing(hook, Duration.ofHours(2));
        var off = cay().call("GET", "/events/webhooks/" + hook).json();
        assertThat(off.get("enabled").booleanValue()).isFalse();
        assertThat(off.get("disabledReason").stringValue()).contains("2026-09-21T10:00:00Z", "answered 500");
        assertThat(off.has("disabledAt")).isTrue();
        String entries = "/admin/audit?action=webhook.disable";
        TestServer.await(
                "the entry", () -> !cay().admin("GET", entries, "").json().isEmpty());
        var entry = cay().admin("GET", entries, "").json().get(0);
        assertThat(entry.get("webhook")).isEqualTo(off.get("id"));
        assertThat(entry.get("actor").stringValue()).isEqualTo("daemon");
        assertThat(entry.has("team")).isTrue();
        assertGivenUp(hook, id, "switched off");
        receiver().status = 200;
        int before = receiver().requests.size();
        String later = cay().create();
        cay().clock.pass(Duration.ofMinutes(30));
        assertQuiet(before);
        assertThat(cay().call("POST", "/events/webhooks/" + hook + "/redeliveries", "{\"failed\":true}")
                        .message())
                .contains("enable it first");

        var on = cay().call("PATCH", "/events/webhooks/" + hook, "{\"enabled\":true}")
                .json();
        assertThat(on.get("enabled").booleanValue()).isTrue();
        assertThat(on.has("disabledReason")).isFalse();
        var again = cay().call("POST", "/events/webhooks/" + hook + "/redeliveries", "{\"failed\":true}");
        assertThat(again.status()).isEqualTo(202);
        assertThat(again.json().get("events").intValue()).isGreaterThanOrEqualTo(2);
        TestServer.await("both events", () -> receiver().taken(id).containsAll(List.of("create", "update")));
        // The sandbox's end never failed for a day: it is sent as soon as the webhook is enabled.
        assertThat(receiver().taken(id))
                .filteredOn(label -> !label.equals("kill"))
                .containsExactly("create", "update");
        assertThat(receiver().taken(later)).doesNotContain("create");
    }

    @Test
    default void anEventThatNobodyTakesForADayIsGivenUpAndTheWebhookGoesOnIfOthersArrive() {
        String hook = hook();
        String id = cay().create("{\"templateID\":\"base\",\"timeout\":60}")
                .get("sandboxID")
                .stringValue();
        await(id, "create");
        receiver().refuses = request -> request.sandbox().equals(id);
        cay().call("DELETE", "/sandboxes/" + id);
        awaitAttempts(hook, 2);
        for (int hour = 0; hour < 24; hour++) {
            passFailing(hook, Duration.ofHours(1));
            if (hour == 12) {
                String other = cay().create();
                await(other, "create");
                // Else its time is over at some moment of the hours that follow.
                cay().call("DELETE", "/sandboxes/" + other);
                await(other, "create", "kill");
                awaitAttempts(hook, receiver().requests.size());
            }
        }
        int before = receiver().requests.size();
        cay().clock.pass(Duration.ofHours(2));
        assertQuiet(before);
        assertThat(enabled(hook)).isTrue();
        receiver().refuses = _ -> false;
        String killed = eventIds(id).getLast();
        var again =
                cay().call("POST", "/events/webhooks/" + hook + "/redeliveries", "{\"eventId\":\"" + killed + "\"}");
        assertThat(again.status()).isEqualTo(202);
        await(id, "create", "kill");
        var unknown = cay().call("POST", "/events/webhooks/" + hook + "/redeliveries", "{\"eventId\":\"none\"}");
        assertThat(unknown.status()).isEqualTo(404);
    }
}
