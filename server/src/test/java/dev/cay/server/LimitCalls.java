package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;

/// Limits of a team and of its keys, and requests that run into them.
interface LimitCalls extends ServerCalls {
    /// The team of the first key.
    String team();

    String CREATE = "{\"templateID\": \"base\"}";

    default void limit(String limits) {
        var answer = cay().admin("PUT", "/admin/teams/%s/limits".formatted(team()), limits);
        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
    }

    default String key(String name, String limits) {
        var made = cay().call("POST", "/api-keys", "{\"name\": \"%s\"}".formatted(name))
                .json();
        var set =
                cay().call("PUT", "/api-keys/%s/limits".formatted(made.get("id").stringValue()), limits);
        assertThat(set.status()).as(set.text()).isEqualTo(200);
        return made.get("key").stringValue();
    }

    default TestServer.Answer with(String key, String method, String path, String body) {
        return cay().request(method, path, Map.of("X-API-Key", key), body);
    }

    default void refused(TestServer.Answer answer, String part) {
        assertThat(answer.status()).as(answer.text()).isEqualTo(429);
        assertThat(answer.json().get("code").intValue()).isEqualTo(429);
        assertThat(answer.message()).contains(part);
        assertThat(answer.header("Retry-After")).matches("[1-9]\\d*");
    }

    default TestServer.Answer ask(String sandbox, String port, Map<String, String> headers) {
        var all = new HashMap<>(headers);
        all.put("E2b-Sandbox-Id", sandbox);
        all.put("E2b-Sandbox-Port", port);
        return cay().request("GET", "/", all, "");
    }

    default TestServer.Answer untilRefused(String sandbox, String port, Map<String, String> headers) {
        return untilRefused(() -> ask(sandbox, port, headers));
    }

    default TestServer.Answer untilRefused(Supplier<TestServer.Answer> request) {
        for (int i = 0; i < 100; i++) {
            var answer = request.get();
            if (answer.status() == 429) {
                return answer;
            }
        }
        throw new AssertionError("100 requests were not refused");
    }
}
