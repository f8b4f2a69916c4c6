package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/// Each event arrives at least once, signed, in the order of its sandbox, also after a restart.
interface WebhookDeliveryContract extends WebhookCalls {
    @Test
    default void anEventArrivesSignedAsTheContractSays() throws Exception {
        assertThat(signature("secret", "{\"id\":\"1\"}")).isEqualTo("g9GVspAMpMVO02eBYKI8LqYg8lbg1Z8T069M83IWUuQ");
        var hook = webhook(ALL);
        String id = sandbox();
        awaitRequests(1);
        var request = receiver().requests.getFirst();
        assertThat(request.headers())
                .containsEntry("e2b-webhook-id", hook.get("id").stringValue())
                .containsEntry("e2b-signature-version", "v1")
                .containsEntry("content-type", "application/json")
                .containsEntry("e2b-signature", signature("geheim", request.body()));
        assertThat(request.headers().get("e2b-delivery-id")).hasSize(36);
        assertThat(request.json())
                .isEqualTo(cay().call("GET", "/events/sandboxes/" + id).json().get(0));
        assertThat(hook.get("enabled").booleanValue()).isTrue();
        assertThat(hook.get("teamId").stringValue()).hasSize(36);
        assertThat(hook.propertyNames()).doesNotContain("signatureSecret", "secret");
    }

    @Test
    default void allEventsOfASandboxArriveInOrderAndOnlyThoseWanted() {
        hook();
        webhook("[\"sandbox.lifecycle.killed\"]");
        String id = sandbox();
        touch(id);
        cay().call("POST", "/sandboxes/" + id + "/pause");
        cay().call("POST", "/v2/sandboxes/" + id + "/connect", "{\"timeout\":100}");
        cay().call("DELETE", "/sandboxes/" + id);
        TestServer.await("six requests", () -> receiver().requests.size() >= 6);
        var byHook = new TreeMap<Integer, List<String>>();
        receiver().requests.stream()
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
    default void whatWasNotSentIsSentAfterARestartInOrder() throws Exception {
        String hook = hook();
        receiver().status = Receiver.BREAK;
        String id = sandbox();
        awaitAttempts(hook, 1);
        touch(id);
        restart();
        receiver().status = 200;
        cay().call("DELETE", "/sandboxes/" + id);
        cay().clock.pass(Duration.ofSeconds(10));
        await(id, "create", "update", "kill");
    }

    /// As after a crash between the answer and the commit.
    @Test
    default void anAttemptThatWasNotWrittenDownIsMadeAgain() throws Exception {
        hook();
        var store = cay().store;
        receiver().onRequest = () -> store.away = true;
        String id = sandbox();
        awaitRequests(1);
        restart();
        TestServer.await("the same event again", () -> receiver().requests.size() == 2);
        assertThat(receiver().taken(id)).containsExactly("create", "create");
        assertThat(receiver().requests.stream().map(Receiver.Request::id).distinct())
                .hasSize(1);
    }

    /// A database that cannot be written must not make Cay send the same again and again.
    @Test
    default void anAttemptThatCannotBeWrittenDownYetIsNotRepeated() {
        String hook = hook();
        receiver().onRequest = () -> cay().store.away = true;
        String id = sandbox();
        awaitRequests(1);
        assertQuiet(1);
        cay().store.away = false;
        receiver().onRequest = () -> {};
        awaitAttempts(hook, 1);
        assertThat(receiver().taken(id)).containsExactly("create");
    }

    @Test
    default void aReceiverThatHangsIsLeftAndGetsFewRequestsAtATime() {
        String hook = hook();
        receiver().status = Receiver.HANG;
        for (int i = 0; i < 10; i++) {
            cay().create();
        }
        awaitRequests(4);
        assertQuiet(4);
        awaitAttempts(hook, 4);
        var attempt = deliveries(hook, "").get("data").get(0).get("attempts").get(0);
        assertThat(attempt.get("errorClass").stringValue()).isEqualTo("timeout");
        assertThat(attempt.get("durationMs").intValue()).isGreaterThanOrEqualTo(1900);
    }

    @Test
    default void redirectsAreNotFollowed() throws Exception {
        try (var other = new Receiver()) {
            String hook = hook();
            receiver().location = other.url();
            receiver().status = 307;
            sandbox();
            awaitAttempts(hook, 1);
            assertThat(other.requests).isEmpty();
            var attempt =
                    deliveries(hook, "").get("data").get(0).get("attempts").get(0);
            assertThat(attempt.get("errorClass").stringValue()).isEqualTo("http_error");
            assertThat(attempt.get("errorMessage").stringValue()).contains("redirects are not followed");
        }
    }
}
