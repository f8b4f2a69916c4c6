package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// Who is removed, or may do less, loses tokens and keys at once; nobody is taken for somebody else.
interface SignInRemovalContract extends SignInCalls {
    @Test
    default void aKillBetweenAChangeOfRightsAndTheEndOfKeysLeavesNoWiderKey() throws Exception {
        String key = key(teams(login("ann@example.org")));
        at(
                "rights-changed",
                this::die,
                () -> cay().admin(
                                "PUT",
                                "/admin/teams/%s/members/ann@example.org".formatted(team()),
                                "{\"scope\": \"read\"}"));
        restart();
        assertThat(status(key)).isEqualTo(401);
    }

    /// A daemon would sign in with this at once when the person is added again.
    @Test
    default void whoIsRemovedWhileTheySignInIsNotSignedInWhenTheyComeBack() {
        var browser = browser("ann@example.org");
        String form = formToken(browser, NEXT);
        var values = new HashMap<String, String>();
        at(
                "sign-in-begins",
                () -> cay().admin("DELETE", "/admin/people/ann@example.org", ""),
                () -> values.putAll(
                        told(post(PAGE, Map.of("next", NEXT, "token", form, "decision", "allow"), browser))));
        assertThat(values).containsOnlyKeys("error");
        add("ann@example.org", "all");
        int signIns = cay().store
                .read(handle -> handle.createQuery("SELECT count(*) FROM sign_in WHERE kind = 'program'")
                        .mapTo(Integer.class)
                        .one());
        assertThat(signIns).isZero();
    }

    /// Lower case of some letters that are not ASCII is ASCII: U+212A is the sign of the unit kelvin.
    @Test
    default void noAddressIsTakenForAnother() {
        add("frank@example.org", "all");
        add("Fran\u212a@example.org".replace("\u212a", "%E2%84%AA"), "read");
        assertThat(cay().admin("GET", "/admin/teams/%s/members".formatted(team()), "")
                        .json()
                        .valueStream()
                        .filter(member -> member.get("email").stringValue().equals("frank@example.org"))
                        .map(member -> member.get("scope").stringValue()))
                .containsExactly("all");
    }

    @Test
    default void whoIsRemovedFromATeamLosesTokenAndKeysThere() {
        var login = login("ann@example.org");
        String key = key(teams(login));
        var made = cay().request(
                        "POST",
                        "/api-keys",
                        Map.of("Authorization", "Bearer " + login.get("accessToken"), "X-Team-ID", team()),
                        "{\"name\": \"ci\"}");
        assertThat(made.status()).as(made.text()).isEqualTo(201);
        var gone = cay().admin("DELETE", "/admin/teams/%s/members/ann@example.org".formatted(team()), "");
        assertThat(gone.json().get("keptKeys").findValuesAsString("name")).containsExactly("ci");
        assertThat(status(key)).isEqualTo(401);
        assertThat(teams(login).status()).isEqualTo(403);
        assertThat(asPerson(login, "GET", "/sandboxes").status()).isEqualTo(403);
        assertThat(status(made.json().get("key").stringValue())).isEqualTo(200);
    }

    /// Whoever may open sandboxes of a team may have read the tokens of all of them.
    @Test
    default void tokensOfSandboxesAreRenewedWithTheRemovalAndKeysThatStayAreNamed() {
        var login = login("ann@example.org");
        var made = cay().request(
                        "POST",
                        "/api-keys",
                        Map.of("Authorization", "Bearer " + login.get("accessToken"), "X-Team-ID", team()),
                        "{\"name\": \"ci\"}");
        assertThat(made.status()).isEqualTo(201);
        String sandbox = cay().create();
        String path = "/admin/teams/%s/members/ann@example.org".formatted(team());
        String first = token(sandbox);
        var same = cay().admin("PUT", path + "?sandboxes=true", "{\"scope\": \"all\"}")
                .json();
        assertThat(same.has("renewedSandboxes")).isFalse();
        assertThat(same.get("keptKeys")).isEmpty();
        var less = cay().admin("PUT", path + "?sandboxes=true", "{\"scope\": \"read\"}")
                .json();
        assertThat(less.get("keptKeys").findValuesAsString("name")).containsExactly("ci");
        assertThat(less.get("renewedSandboxes").intValue()).isEqualTo(1);
        String second = token(sandbox);
        assertThat(second).isNotEqualTo(first);
        assertThat(cay().admin("PUT", path, "{\"scope\": \"sandboxes\"}").json().get("keptKeys"))
                .as("a key that may do everything, of somebody who may not")
                .hasSize(1);
        assertThat(cay().admin("DELETE", path, "").json().has("renewedSandboxes"))
                .isFalse();
        assertThat(token(sandbox)).isEqualTo(second);
        add("ann@example.org", "sandboxes");
        assertThat(cay().admin("DELETE", "/admin/people/ann@example.org?sandboxes=true", "")
                        .json()
                        .get("renewedSandboxes")
                        .intValue())
                .isEqualTo(1);
        assertThat(token(sandbox)).isNotEqualTo(second);
    }

    @Test
    default void whoIsRemovedIsSignedOutEverywhere() {
        var browser = browser("ann@example.org");
        var login = told(decide(browser, "allow"));
        String key = key(teams(login));
        String link = link("ann@example.org");
        assertThat(cay().admin("DELETE", "/admin/people/ann@example.org", "").status())
                .isEqualTo(200);
        assertThat(status(key)).isEqualTo(401);
        assertThat(teams(login).status()).isEqualTo(401);
        assertThat(refresh(login.get("refreshToken")).status()).isEqualTo(400);
        assertThat(cay().request("GET", "/sign-in", browser).text()).contains("cay login");
        assertThat(post("/sign-in/link", Map.of("token", link), Map.of()).status())
                .isEqualTo(404);
        assertThat(cay().admin("POST", "/admin/people/ann@example.org/link", "{}")
                        .status())
                .isEqualTo(404);
        add("ann@example.org", "all");
        assertThat(teams(login).status()).as("tokens from before").isEqualTo(401);
    }

    /// The daemon was killed between the removal and the end of the keys.
    @Test
    default void aStartEndsKeysOfPeopleWhoAreGone() throws Exception {
        String key = key(teams(login("ann@example.org")));
        cay().store.write(handle -> handle.execute("UPDATE member SET removed_at = 1"));
        restart();
        assertThat(status(key)).isEqualTo(401);
        assertThat(status(cay().key)).isEqualTo(200);
    }
}
