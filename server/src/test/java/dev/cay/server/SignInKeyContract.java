package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;

/// A person who signed in gets keys of their teams: as far as their rights go, and not too many.
interface SignInKeyContract extends SignInCalls {
    @Test
    default void aTeamWithoutRoomForAKeyLeavesNoKeysOfTheOthersBehind() throws Exception {
        // The other team comes first.
        cay().clock.pass(Duration.ofSeconds(1));
        String full = cay().admin("POST", "/admin/teams", "{\"name\": \"Full\"}")
                .json()
                .get("teamID")
                .stringValue();
        cay().admin("PUT", "/admin/teams/%s/members/ann@example.org".formatted(full), "{}");
        cay().store.write(handle -> {
            for (int i = 0; i < 1000; i++) {
                handle.execute("""
                        INSERT INTO api_key (id, team_id, name, hash, mask_prefix, mask_suffix, scope, created_at)
                        VALUES (?, ?, 'n', ?, 'p', 's', 'all', 1) ON CONFLICT DO NOTHING
                        """, "many" + i, full, "hash" + i);
            }
            return full;
        });
        restart();
        var before = cay().call("GET", "/api-keys").json().size();
        var refused = teams(login("ann@example.org"));
        assertThat(refused.status()).isEqualTo(429);
        assertThat(refused.text()).contains("1000 API keys");
        assertThat(cay().call("GET", "/api-keys").json().size()).isEqualTo(before);
    }

    @Test
    default void aPersonHasTenKeysAndTheOldestGoes() {
        var login = login("ann@example.org");
        String first = key(teams(login));
        for (int i = 0; i < 9; i++) {
            cay().clock.pass(Duration.ofSeconds(1));
            teams(login);
        }
        assertThat(status(first)).isEqualTo(200);
        cay().clock.pass(Duration.ofSeconds(1));
        teams(login);
        assertThat(status(first)).isEqualTo(401);
        assertThat(cay().call("GET", "/api-keys").json()).hasSize(11);
        assertThat(cay().call("GET", "/sandboxes").status()).as("other keys").isEqualTo(200);
    }

    /// Each answer writes two rows for each team of the person.
    @Test
    default void requestsForKeysCountAndOnePersonGetsSoManyOfThem() {
        add("bob@example.org", "read");
        var login = login("bob@example.org");
        for (int i = 0; i < 30; i++) {
            assertThat(teams(login).status()).as("call %d", i).isEqualTo(200);
        }
        var more = teams(login);
        assertThat(more.status()).isEqualTo(429);
        assertThat(more.header("Retry-After")).isNotNull();
        var other = login("ann@example.org");
        assertThat(cay().admin("PUT", "/admin/teams/%s/limits".formatted(team()), "{\"apiCallsPer30s\": 2}")
                        .status())
                .isEqualTo(200);
        assertThat(List.of(
                        teams(other).status(),
                        teams(other).status(),
                        teams(other).status()))
                .as("as every request to the API")
                .containsExactly(200, 200, 429);
    }

    @Test
    default void aPersonHasTenKeysAlsoWhenTheyAskForManyAtOnce() throws Exception {
        var login = login("ann@example.org");
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < 25; i++) {
                threads.submit(() -> teams(login));
            }
        }
        assertThat(cay().call("GET", "/api-keys")
                        .json()
                        .valueStream()
                        .filter(key -> key.get("name").stringValue().startsWith("E2B CLI")))
                .hasSize(10);
    }

    @Test
    default void aPersonDoesWhatTheirScopeAllowsAndGetsNoWiderKey() {
        add("bob@example.org", "read");
        var login = login("bob@example.org");
        assertThat(asPerson(login, "GET", "/sandboxes").status()).isEqualTo(200);
        assertThat(asPerson(login, "POST", "/sandboxes").status()).isEqualTo(403);
        assertThat(asPerson(login, "POST", "/api-keys").status()).isEqualTo(403);
        String key = key(teams(login));
        assertThat(status(key)).isEqualTo(200);
        assertThat(cay().request("POST", "/sandboxes", Map.of("X-API-Key", key), "{\"templateID\":\"base\"}")
                        .status())
                .isEqualTo(403);
        assertThat(cay().request("GET", "/teams", Map.of("X-API-Key", key))
                        .json()
                        .get(0)
                        .get("apiKey")
                        .stringValue())
                .as("the key gets itself")
                .isEqualTo(key);
        add("bob@example.org", "sandboxes");
        assertThat(status(key)).as("the key with the earlier rights").isEqualTo(401);
        assertThat(asPerson(login, "POST", "/sandboxes").status()).isEqualTo(201);
    }

    @Test
    default void aPersonNamesOneOfTheirTeams() {
        String other = cay().admin("POST", "/admin/teams", "{\"name\": \"other\"}")
                .json()
                .get("teamID")
                .stringValue();
        var login = login("ann@example.org");
        String bearer = "Bearer " + login.get("accessToken");
        assertThat(cay().request("GET", "/api-keys", Map.of("Authorization", bearer))
                        .message())
                .contains("X-Team-ID");
        assertThat(cay().request("GET", "/api-keys", Map.of("Authorization", bearer, "X-Team-ID", other))
                        .status())
                .isEqualTo(403);
        assertThat(asPerson(login, "GET", "/api-keys").json()).hasSize(1);
        var made = asPerson(login, "POST", "/api-keys").json();
        assertThat(made.get("createdBy").get("id").isString()).isTrue();
        assertThat(made.get("createdBy").get("email").isNull()).isTrue();
        String path = "/api-keys/" + made.get("id").stringValue();
        assertThat(asPerson(login, "PATCH", path).status()).isEqualTo(200);
        assertThat(asPerson(login, "DELETE", path).status()).isEqualTo(204);
    }
}
