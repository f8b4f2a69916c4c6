package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// Teams change their members themselves.
interface SignInMemberContract extends SignInCalls {
    private TestServer.Answer member(Map<String, String> login, String method, String email, String body) {
        var headers = Map.of("Authorization", "Bearer " + login.get("accessToken"), "X-Team-ID", team());
        return cay().request(method, "/members/" + email, headers, body);
    }

    private List<String> members() {
        return cay().call("GET", "/members")
                .json()
                .valueStream()
                .map(member -> member.get("email").stringValue() + " "
                        + member.get("scope").stringValue())
                .toList();
    }

    @Test
    default void whoMayDoEverythingInATeamAddsAndRemovesPeopleThere() {
        var ann = login("ann@example.org");
        assertThat(member(ann, "PUT", "bob@example.org", "{\"scope\": \"read\"}")
                        .status())
                .isEqualTo(200);
        assertThat(members()).containsExactly("ann@example.org all", "bob@example.org read");
        var bob = login("bob@example.org");
        assertThat(asPerson(bob, "GET", "/sandboxes").status()).isEqualTo(200);
        assertThat(member(bob, "PUT", "eve@example.org", "{}").status())
                .as("of one who may read")
                .isEqualTo(403);
        assertThat(asPerson(bob, "GET", "/members").status()).isEqualTo(403);
        assertThat(member(ann, "PUT", "bob@example.org", "{\"scope\": \"sandbox:i1\"}")
                        .message())
                .contains("'scope'");

        String id = id("bob@example.org");
        assertThat(member(ann, "DELETE", "bob@example.org", "").status()).isEqualTo(200);
        assertThat(members()).containsExactly("ann@example.org all");
        assertThat(asPerson(bob, "GET", "/sandboxes").status()).isEqualTo(403);
        assertThat(member(ann, "DELETE", "bob@example.org", "").status()).isEqualTo(404);
        for (String action : List.of("team.add-member", "team.remove-member")) {
            TestServer.await(
                    action + " of bob by ann",
                    () -> cay().call("GET", "/audit?action=" + action)
                            .json()
                            .valueStream()
                            .anyMatch(entry -> entry.path("person").asString("").equals(id)
                                    && entry.get("actor").stringValue().equals("person:" + id("ann@example.org"))));
        }
        assertThat(cay().call("GET", "/audit?actor=person:" + id("ann@example.org"))
                        .text())
                .contains(id)
                .doesNotContain("bob@");
    }

    @Test
    default void nobodyChangesTheirOwnRights() {
        var ann = login("ann@example.org");
        for (String method : List.of("PUT", "DELETE")) {
            assertThat(member(ann, method, "Ann@example.org", "{\"scope\": \"read\"}")
                            .status())
                    .isEqualTo(409);
            var program = Map.of("X-API-Key", key(teams(ann)));
            assertThat(cay().request(method, "/members/ann@example.org", program, "{}")
                            .status())
                    .isEqualTo(409);
        }
        assertThat(members()).containsExactly("ann@example.org all");
        assertThat(cay().call("PUT", "/members/ann@example.org", "{\"scope\": \"read\"}")
                        .status())
                .isEqualTo(200);
        assertThat(members()).containsExactly("ann@example.org read");
    }

    @Test
    default void aTeamBringsNobodyBackWhomTheOperatorHasRemoved() {
        add("bob@example.org", "all");
        assertThat(cay().admin("DELETE", "/admin/people/bob@example.org", "").status())
                .isEqualTo(200);
        var refused = cay().call("PUT", "/members/bob@example.org", "{}");
        assertThat(refused.status()).isEqualTo(403);
        assertThat(refused.message()).contains("cay team member add default bob@example.org");
        assertThat(members()).containsExactly("ann@example.org all");
        add("bob@example.org", "all");
        assertThat(members()).hasSize(2);
    }

    /// A person in the team would have neither the end nor the limits of the key that let them in.
    @Test
    default void aKeyWithAnEndOrLimitsChangesNoMembers() {
        var ending = cay().call("POST", "/api-keys", "{\"name\": \"e\", \"expiresAt\": \"2030-01-01T00:00:00Z\"}");
        var limited = cay().call("POST", "/api-keys", "{\"name\": \"l\"}").json();
        String limits = "/api-keys/%s/limits".formatted(limited.get("id").stringValue());
        assertThat(cay().call("PUT", limits, "{\"sandboxes\": 1}").status()).isEqualTo(200);
        for (var key : List.of(ending.json(), limited)) {
            var headers = Map.of("X-API-Key", key.get("key").stringValue());
            assertThat(cay().request("GET", "/members", headers).status()).isEqualTo(200);
            for (String method : List.of("PUT", "DELETE")) {
                assertThat(cay().request(method, "/members/ann@example.org", headers, "{}")
                                .status())
                        .isEqualTo(403);
            }
        }
        assertThat(members()).containsExactly("ann@example.org all");
    }

    private String id(String email) {
        return cay().admin("GET", "/admin/people", "")
                .json()
                .valueStream()
                .filter(person -> person.get("email").stringValue().equals(email))
                .map(person -> person.get("id").stringValue())
                .findFirst()
                .orElseThrow();
    }
}
