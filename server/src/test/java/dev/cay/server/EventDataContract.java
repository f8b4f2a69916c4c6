package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/// Large fields of events are stored once, and arrive whole.
interface EventDataContract extends WebhookCalls {
    /// 50 updates of 60 KB for 20 webhooks would be 123 MB if each message had its own.
    @Test
    default void largeMetadataIsStoredOnceHoweverOftenItIsSentAndToHowManyWebhooks() {
        String hook = hook();
        for (int i = 1; i < 10; i++) {
            webhook("[\"sandbox.lifecycle.updated\"]");
        }
        String large = "m".repeat(60_000);
        String id = cay().create(
                        "{\"templateID\":\"base\",\"timeout\":86400,\"metadata\":{\"large\":\"%s\"}}".formatted(large))
                .get("sandboxID")
                .stringValue();
        for (int i = 0; i < 20; i++) {
            touch(id);
        }
        awaitRequests(201);
        assertThat(storedBytes()).isBetween(60_000L, 1_000_000L);
        assertThat(receiver().requests).allSatisfy(request -> {
            assertThat(metadata(request.json().get("eventData"))).isEqualTo(large);
            assertThat(request.json().get("event_data"))
                    .isEqualTo(request.json().get("eventData"));
        });
        var listed = cay().call("GET", "/events/sandboxes/" + id + "?limit=100").json();
        assertThat(listed)
                .hasSize(21)
                .allSatisfy(
                        event -> assertThat(metadata(event.get("eventData"))).isEqualTo(large));
        var sent =
                deliveries(hook, "?limit=1").get("data").get(0).get("attempts").get(0);
        assertThat(sent.get("requestBody").stringValue()).contains(large);

        cay().store.write(handle -> handle.execute("DELETE FROM event_part"));
        var without =
                cay().call("GET", "/events/sandboxes/" + id + "?limit=1").json().get(0);
        assertThat(without.get("eventData").get("cay_not_kept").get(0).stringValue())
                .isEqualTo("sandbox_metadata");
    }

    private static String metadata(JsonNode data) {
        return data.get("sandbox_metadata").get("large").stringValue();
    }

    /// Of all events and messages.
    private long storedBytes() {
        return cay().store
                .read(handle -> handle.createQuery("""
                        SELECT (SELECT COALESCE(SUM(length(body)), 0) FROM webhook_message)
                            + (SELECT SUM(length(data)) FROM event) + (SELECT SUM(length(content)) FROM event_part)
                        """).mapTo(Long.class).one());
    }

    @Test
    default void anEventWithLargeDataArrivesWithTheSameBytesAfterARestart() throws Exception {
        String hook = hook();
        receiver().status = 500;
        cay().create("{\"templateID\":\"base\",\"timeout\":86400,\"metadata\":{\"b\":\"%s\",\"a\":\"1\"}}"
                .formatted("m".repeat(9000)));
        awaitAttempts(hook, 1);
        restart();
        receiver().status = 200;
        cay().clock.pass(Duration.ofSeconds(10));
        awaitRequests(2);
        assertThat(receiver().requests.get(1).body())
                .isEqualTo(receiver().requests.get(0).body());
    }
}
