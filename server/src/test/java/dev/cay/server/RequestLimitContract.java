package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

/// A team sends so many requests in a time, to the API and to its sandboxes.
interface RequestLimitContract extends LimitCalls {
    @Test
    default void onlySoManyAreCreatedPerSecond() {
        limit("{\"createsPerSecond\": 2}");
        var last = untilRefused(() -> cay().call("POST", "/sandboxes", CREATE));
        refused(last, "may create 2 sandboxes per second");
        assertThat(last.header("Retry-After")).isEqualTo("1");
        // Other requests go on.
        assertThat(cay().call("GET", "/v2/sandboxes").status()).isEqualTo(200);
    }

    @Test
    default void requestsAreCountedPerTeam() {
        limit("{\"apiCallsPer30s\": 20}");
        var last = untilRefused(() -> cay().call("GET", "/v2/sandboxes"));
        refused(last, "20 requests to the API in 30 seconds");
        assertThat(Integer.parseInt(last.header("Retry-After"))).isBetween(1, 2);
        String foreign = cay().keyOfAnotherTeam();
        assertThat(with(foreign, "GET", "/v2/sandboxes", "").status()).isEqualTo(200);
        // The operator is not held up, and can raise the limit.
        limit("{\"profile\": \"none\"}");
        assertThat(cay().call("GET", "/v2/sandboxes").status()).isEqualTo(200);
    }

    @Test
    default void requestsToSandboxesAreCountedForTheirOwner() {
        String sandbox = cay().create();
        String token = token(sandbox);
        limit("{\"operationsPerMinute\": 10}");
        var last = untilRefused(sandbox, "49983", Map.of("X-Access-Token", token));
        assertThat(last.text()).contains("10 requests to its sandboxes in a minute");
        assertThat(Integer.parseInt(last.header("Retry-After")))
                .as("a tenth of a minute")
                .isBetween(2, 6);
    }

    /// Addresses of sandboxes are in links and logs.
    @Test
    default void whoKnowsTheAddressOfASandboxDoesNotUseUpWhatTheTeamMayDo() {
        String known = cay().create();
        String other = cay().create();
        String token = token(known);
        limit("{\"operationsPerMinute\": 10}");
        assertThat(untilRefused(known, "8080", Map.of()).text()).contains("this sandbox may get 10 requests");
        assertThat(untilRefused(known, "49983", Map.of("X-Access-Token", "guessed"))
                        .text())
                .contains("this sandbox may get 10 requests");
        assertThat(ask(known, "49983", Map.of("X-Access-Token", token)).status())
                .isEqualTo(200);
        assertThat(ask(other, "8080", Map.of()).status()).isEqualTo(200);
    }

    @Test
    default void requestsThatAKeyMayNotSendCount() {
        String reader = cay().call("POST", "/api-keys", "{\"name\": \"r\", \"scope\": \"read\"}")
                .json()
                .get("key")
                .stringValue();
        limit("{\"apiCallsPer30s\": 20}");
        var last = untilRefused(() -> {
            var answer = with(reader, "POST", "/sandboxes", CREATE);
            assertThat(answer.status()).isIn(403, 429);
            return answer;
        });
        refused(last, "20 requests to the API in 30 seconds");
    }

    /// Its client asks again because it got no answer.
    @Test
    default void aRepetitionOfACreateIsNoCreate() {
        limit("{\"createsPerSecond\": 1}");
        String id = "";
        for (int i = 0; i < 20; i++) {
            var made = cay().call("POST", "/v2/sandboxes", CREATE, "Idempotency-Key", "one");
            assertThat(made.status()).as(made.text()).isEqualTo(201);
            String now = made.json().get("sandboxID").stringValue();
            assertThat(id.isEmpty() ? now : id).isEqualTo(now);
            id = now;
        }
    }
}
