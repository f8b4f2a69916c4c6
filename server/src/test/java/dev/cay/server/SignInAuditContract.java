package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/// The audit log names people.
interface SignInAuditContract extends SignInCalls {
    @Test
    default void theAuditLogHasARequestForTeamsWithoutACredential() {
        assertThat(cay().request("GET", "/teams", Map.of()).status()).isEqualTo(401);
        var entry = entry("team");
        assertThat(entry.get("request").stringValue()).isEqualTo("GET /teams");
        assertThat(entry.get("result").stringValue()).isEqualTo("refused");
        assertThat(entry.get("credential").stringValue()).isEqualTo("none");
    }

    @Test
    default void theAuditLogNamesThePerson() {
        var login = login("ann@example.org");
        assertThat(asPerson(login, "POST", "/api-keys").status()).isEqualTo(201);
        TestServer.await(
                "the entry",
                () -> cay().admin("GET", "/admin/audit?action=key.create", "")
                        .text()
                        .contains("ann@example.org"));
        var entry =
                cay().admin("GET", "/admin/audit?action=key.create", "").json().get(0);
        assertThat(entry.get("actor").stringValue()).startsWith("person:");
        assertThat(entry.get("credential").stringValue()).isEqualTo("ann@example.org");
    }

    /// Keys of programs are revoked at logout, and no list has them any more.
    @Test
    default void theAuditLogNamesThePersonBehindEveryKeyAlsoAfterLogout() {
        var login = login("ann@example.org");
        String key = key(teams(login));
        var created = cay().request("POST", "/v2/sandboxes", Map.of("X-API-Key", key), "{\"templateID\":\"base\"}");
        assertThat(created.status()).isEqualTo(201);
        var token = Map.of("token", login.get("refreshToken"), "client_id", login.get("clientId"));
        assertThat(post("/oauth/revoke", token, Map.of()).status()).isEqualTo(200);
        var minted = entry("key.mint");
        assertThat(minted.get("actor").stringValue()).isEqualTo("person:" + id("ann@example.org"));
        assertThat(minted.get("credential").stringValue()).isEqualTo("ann@example.org");
        assertThat(minted.get("team").stringValue()).isEqualTo(team());
        var used = entry("sandbox.create");
        assertThat(used.get("actor").stringValue())
                .isEqualTo("key:" + minted.get("key").stringValue());
        assertThat(used.get("person").stringValue()).isEqualTo(id("ann@example.org"));
    }

    @Test
    default void theAuditLogNamesWhomTheOperatorAddsLetsInAndRemoves() {
        add("bob@example.org", "read");
        String id = id("bob@example.org");
        link("bob@example.org");
        String member = "/admin/teams/%s/members/bob@example.org".formatted(team());
        assertThat(cay().admin("DELETE", member, "").status()).isEqualTo(200);
        assertThat(cay().admin("DELETE", "/admin/people/bob@example.org", "").status())
                .isEqualTo(200);
        for (String action : List.of("team.add-member", "person.link", "team.remove-member", "person.remove")) {
            TestServer.await(
                    action + " of bob",
                    () -> entry(action).path("person").asString("").equals(id));
            assertThat(entry(action).toString()).doesNotContain("bob@");
        }
    }

    /// The newest entry of this action, as soon as it is written.
    private JsonNode entry(String action) {
        String path = "/admin/audit?limit=1&action=" + action;
        TestServer.await(action, () -> !cay().admin("GET", path, "").json().isEmpty());
        return cay().admin("GET", path, "").json().get(0);
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

    @Test
    default void theAuditLogTellsWhoSignsInAndOutAndWhoIsRefused() {
        var login = login("ann@example.org");
        post("/sign-in/link", Map.of("token", "cay_link_guessed"), Map.of());
        var token = Map.of("token", login.get("refreshToken"), "client_id", login.get("clientId"));
        assertThat(post("/oauth/revoke", token, Map.of()).status()).isEqualTo(200);
        TestServer.await(
                "the last entry",
                () -> cay().admin("GET", "/admin/audit?action=person.sign-out", "")
                                .json()
                                .size()
                        == 1);
        var entries = cay().admin("GET", "/admin/audit?action=person", "");
        var told = entries.json()
                .valueStream()
                .filter(entry -> entry.get("action").stringValue().startsWith("person.sign"))
                .map(entry -> String.join(
                        " ",
                        entry.get("action").stringValue(),
                        entry.get("way").stringValue(),
                        entry.get("actor").stringValue().replaceAll(":.*", ""),
                        entry.get("result").stringValue()));
        assertThat(told)
                .containsExactly(
                        "person.sign-out program person ok",
                        "person.sign-in link unknown refused",
                        "person.sign-in program person ok",
                        "person.sign-in link person ok");
        assertThat(entries.text()).doesNotContain("cay_link_", login.get("refreshToken"), login.get("accessToken"));
    }
}
