package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.List;
import tools.jackson.databind.JsonNode;

/// Webhooks of a team, and the receiver that they lead to.
interface WebhookCalls extends ServerCalls {
    /// Where all webhooks of the test lead to.
    Receiver receiver();

    String ALL = """
            ["sandbox.lifecycle.created", "sandbox.lifecycle.updated", "sandbox.lifecycle.paused",
             "sandbox.lifecycle.resumed", "sandbox.lifecycle.killed", "sandbox.lifecycle.checkpointed"]""";

    default JsonNode webhook(String events) {
        var answer =
                cay().call("POST", "/events/webhooks", """
                {"name": "mine", "url": "%s", "events": %s, "signatureSecret": "geheim"}
                """.formatted(receiver().url(), events));
        assertThat(answer.status()).as(answer.text()).isEqualTo(201);
        return answer.json();
    }

    default String hook() {
        return webhook(ALL).get("id").stringValue();
    }

    /// One that outlives what tests do with the clock.
    default String sandbox() {
        return cay().create("{\"templateID\":\"base\",\"timeout\":86400}")
                .get("sandboxID")
                .stringValue();
    }

    default void touch(String sandbox) {
        assertThat(cay().call("POST", "/sandboxes/" + sandbox + "/timeout", "{\"timeout\":80000}")
                        .status())
                .isEqualTo(204);
    }

    default void await(String sandbox, String... labels) {
        TestServer.await(
                "deliveries " + List.of(labels) + " of " + receiver().requests.size() + " requests",
                () -> receiver().taken(sandbox).equals(List.of(labels)));
    }

    default void awaitRequests(int count) {
        TestServer.await(
                "%d requests".formatted(count), () -> receiver().requests.size() >= count);
    }

    default JsonNode deliveries(String hook, String query) {
        var answer = cay().call("GET", "/events/webhooks/" + hook + "/deliveries" + query);
        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
        return answer.json();
    }

    /// The attempt was written down, so what follows from it counts from the clock of now.
    default void awaitAttempts(String hook, long count) {
        TestServer.await("%d attempts on record".formatted(count), () -> attempts(hook) >= count);
    }

    default long attempts(String hook) {
        return cay().call(
                        "GET",
                        "/events/webhooks/" + hook + "/stats?start=2026-09-14T00:00:00Z&end=2026-09-30T00:00:00Z")
                .json()
                .get("total")
                .longValue();
    }

    default String signature(String secret, String body) throws Exception {
        var digest = MessageDigest.getInstance("SHA-256").digest((secret + body).getBytes(StandardCharsets.UTF_8));
        return Base64.getUrlEncoder().withoutPadding().encodeToString(digest);
    }

    /// Nothing more arrives than what did.
    default void assertQuiet(int requests) {
        try {
            Thread.sleep(100);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        assertThat(receiver().requests.stream().map(request -> request.sandbox() + " " + request.label()))
                .hasSize(requests);
    }

    /// Oldest first.
    default List<String> eventIds(String sandbox) {
        return cay().call("GET", "/events/sandboxes/" + sandbox + "?orderAsc=true&limit=100").json().values().stream()
                .map(event -> event.get("id").stringValue())
                .toList();
    }

    /// The event is in the list with the reason, though no request was made for it.
    default void assertGivenUp(String hook, String sandbox, String reason) {
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
}
