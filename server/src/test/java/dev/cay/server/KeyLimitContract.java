package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// A key has limits of its own, and gets past them by no other key.
interface KeyLimitContract extends LimitCalls {
    @Test
    default void requestsToSandboxesThatAKeyCreatedAreCountedForTheKey() throws Exception {
        String narrow = key("narrow", "{\"operationsPerMinute\": 2}");
        String own = with(narrow, "POST", "/v2/sandboxes", "{\"templateID\": \"base\"}")
                .json()
                .get("sandboxID")
                .stringValue();
        String second = with(narrow, "POST", "/v2/sandboxes", "{\"templateID\": \"base\"}")
                .json()
                .get("sandboxID")
                .stringValue();
        String other = cay().create();
        restart();
        assertThat(untilRefused(own, "49983", Map.of("X-Access-Token", token(own)))
                        .text())
                .contains("the API key that created the sandbox may send 2 requests");
        // They share the count, and a sandbox that another key made has none.
        assertThat(ask(second, "49983", Map.of("X-Access-Token", token(second))).status())
                .isEqualTo(429);
        assertThat(untilRefused(own, "8080", Map.of()).text()).contains("this sandbox may get 2 requests");
        for (int i = 0; i < 30; i++) {
            assertThat(ask(other, "49983", Map.of("X-Access-Token", token(other)))
                            .status())
                    .isEqualTo(200);
        }
        // What the team has no room for takes nothing from the key.
        limit("{\"operationsPerMinute\": 1}");
        assertThat(untilRefused(other, "49983", Map.of("X-Access-Token", token(other)))
                        .text())
                .contains("may send 1 requests")
                .doesNotContain("API key");
    }

    @Test
    default void buildsThatAKeyAskedForAreCountedForTheKeyAndTheOneThatTakesItsPlace() throws Exception {
        String narrow = key("narrow", "{\"builds\": 1}");
        var build = with(narrow, "POST", "/v3/templates", "{\"name\": \"narrow\"}");
        assertThat(build.status()).as(build.text()).isEqualTo(202);
        restart();
        refused(with(narrow, "POST", "/v3/templates", "{\"name\": \"more\"}"), "1 builds of this API key");
        refused(with(narrow, "POST", "/v2/templates", "{\"name\": \"more\"}"), "1 builds of this API key");
        assertThat(cay().call("POST", "/v3/templates", "{\"name\": \"more\"}").status())
                .isEqualTo(202);
        String id = idOf("narrow");
        String next = cay().call("POST", "/api-keys/%s/rotate".formatted(id), "{\"overlapSeconds\": 60}")
                .json()
                .get("key")
                .stringValue();
        refused(with(next, "POST", "/v3/templates", "{\"name\": \"another\"}"), "1 builds of this API key");
        cay().admin("POST", "/admin/teams/%s/builds/cancel".formatted(team()), "");
        assertThat(with(next, "POST", "/v3/templates", "{\"name\": \"another\"}")
                        .status())
                .isEqualTo(202);
    }

    @Test
    default void aKeyHasLimitsOfItsOwn() {
        String narrow = key("narrow", "{\"sandboxes\": 1, \"apiCallsPer30s\": 50}");
        assertThat(with(narrow, "POST", "/sandboxes", CREATE).status()).isEqualTo(201);
        refused(with(narrow, "POST", "/sandboxes", CREATE), "this API key may have 1 sandboxes at once");
        // Those of another key of the team do not count for it.
        cay().create();
        var last = untilRefused(() -> with(narrow, "GET", "/v2/sandboxes", ""));
        refused(last, "the API key 'narrow' may send 50 requests");
        assertThat(cay().call("GET", "/v2/sandboxes").status()).isEqualTo(200);
    }

    @Test
    default void aLimitedKeyCannotGetPastItsLimits() {
        String narrow = key("narrow", "{\"sandboxes\": 1}");
        String id = idOf("narrow");
        for (var attempt : List.of(
                with(narrow, "POST", "/api-keys", "{\"name\": \"wider\"}"),
                with(narrow, "POST", "/api-keys/%s/rotate".formatted(id), "{}"),
                with(narrow, "PUT", "/api-keys/%s/limits".formatted(id), "{\"sandboxes\": null}"))) {
            assertThat(attempt.status()).as(attempt.text()).isEqualTo(403);
        }
        String fresh = cay().call("POST", "/api-keys/%s/rotate".formatted(id), "{}")
                .json()
                .get("key")
                .stringValue();
        assertThat(with(fresh, "POST", "/sandboxes", CREATE).status()).isEqualTo(201);
        refused(with(fresh, "POST", "/sandboxes", CREATE), "1 sandboxes at once");
    }

    /// Otherwise it would have twice as much for as long as both are good, and again after each rotation.
    @Test
    default void aKeyThatTakesThePlaceOfAnotherSharesItsLimits() throws Exception {
        String old = key("narrow", "{\"sandboxes\": 2}");
        String id = idOf("narrow");
        assertThat(with(old, "POST", "/sandboxes", CREATE).status()).isEqualTo(201);
        String rotate = "/api-keys/%s/rotate".formatted(id);
        String fresh = cay().call("POST", rotate, "{\"overlapSeconds\": 600}")
                .json()
                .get("key")
                .stringValue();
        assertThat(with(fresh, "POST", "/sandboxes", CREATE).status()).isEqualTo(201);
        for (int run = 0; run < 2; run++) {
            refused(with(fresh, "POST", "/sandboxes", CREATE), "2 sandboxes at once");
            refused(with(old, "POST", "/sandboxes", CREATE), "2 sandboxes at once");
            restart();
        }
        assertThat(cay().call("DELETE", "/api-keys/" + id).status()).isEqualTo(204);
        refused(with(fresh, "POST", "/sandboxes", CREATE), "2 sandboxes at once");
    }

    private String idOf(String name) {
        return cay().call("GET", "/api-keys").json().values().stream()
                .filter(key -> key.get("name").stringValue().equals(name))
                .map(key -> key.get("id").stringValue())
                .findFirst()
                .orElseThrow();
    }

    @Test
    default void whatARevokedKeyMadeIsNotHeldToItsLimits() {
        String narrow = key("narrow", "{\"sandboxes\": 1}");
        String one = with(narrow, "POST", "/sandboxes", CREATE)
                .json()
                .get("sandboxID")
                .stringValue();
        assertThat(cay().call("POST", "/sandboxes/%s/pause".formatted(one), "{}")
                        .status())
                .isEqualTo(204);
        assertThat(with(narrow, "POST", "/sandboxes", CREATE).status()).isEqualTo(201);
        String connect = "/v2/sandboxes/%s/connect".formatted(one);
        refused(cay().call("POST", connect, "{}"), "this API key may have 1 sandboxes at once");
        assertThat(cay().call("DELETE", "/api-keys/" + idOf("narrow")).status()).isEqualTo(204);
        assertThat(cay().call("POST", connect, "{}").status()).isEqualTo(201);
    }
}
