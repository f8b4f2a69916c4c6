package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// A person lets a program of their own machine act for them, and nobody else.
interface SignInProgramContract extends SignInCalls {
    @Test
    default void aLinkSignsABrowserInWhichLetsTheCommandLineActForThePerson() {
        var login = login("ann@example.org");
        assertThat(login)
                .containsEntry("email", "ann@example.org")
                .containsEntry("tokenEndpoint", ORIGIN + "/oauth/token")
                .containsEntry("revokeEndpoint", ORIGIN + "/oauth/revoke");
        var claims = claims(login.get("accessToken"));
        assertThat(claims.get("exp").longValue() - claims.get("iat").longValue())
                .isEqualTo(3600);
        var teams = teams(login).json();
        assertThat(teams).hasSize(1);
        assertThat(teams.get(0).get("isDefault").booleanValue()).isTrue();
        assertThat(teams.get(0).get("teamID").stringValue()).isEqualTo(team());
        assertThat(status(teams.get(0).get("apiKey").stringValue())).isEqualTo(200);
    }

    private static JsonNode claims(String token) {
        return JsonMapper.shared().readTree(Base64.getUrlDecoder().decode(token.split("\\.")[1]));
    }

    /// What must not be taken for a port of the browser's own machine.
    List<String> ELSEWHERE = List.of(
            "",
            "http://localhost",
            "https://localhost:4321",
            "http://evil.example:4321",
            "http://localhost.evil.example:4321",
            "http://localhost:4321@evil.example",
            "http://user@localhost:4321",
            "http://localhost:4321.evil.example",
            "http://localhost:4321/path",
            "http://localhost:4321/?a=b",
            "http://localhost:4321#x",
            "http://localhost:4321\\@evil.example",
            "http://[::1]:4321",
            "http://127.0.0.1.nip.example:4321",
            "http://0.0.0.0:4321",
            "http://127.1:4321",
            "http://localhost:0",
            "http://localhost:65536",
            "http://localhost:4321\n",
            "//localhost:4321",
            "javascript:alert(1)");

    @Test
    default void tokensGoNowhereButToTheOwnMachine() {
        var browser = browser("ann@example.org");
        String token = formToken(browser, NEXT);
        for (String next : ELSEWHERE) {
            var shown =
                    cay().request("GET", PAGE + "?next=" + URLEncoder.encode(next, StandardCharsets.UTF_8), browser);
            assertThat(shown.status()).as(next).isEqualTo(400);
            var sent = post(PAGE, Map.of("next", next, "token", token, "decision", "allow"), browser);
            assertThat(sent.status()).as(next).isEqualTo(400);
            assertThat(sent.header("Location")).as(next).isNull();
        }
    }

    @Test
    default void bothNamesOfTheOwnMachineAreServed() {
        var browser = browser("ann@example.org");
        for (String next : List.of("http://127.0.0.1:4321", "http://localhost:4321/")) {
            assertThat(cay().request("GET", PAGE + "?next=" + next, browser).text())
                    .contains("id=\"allow\"");
        }
    }

    @Test
    default void aForgedAnswerIsRefusedAndTheProgramHearsOfIt() {
        var browser = browser("ann@example.org");
        String token = formToken(browser, NEXT);
        var other = Map.of("next", NEXT, "token", formToken(browser, "http://localhost:9999"), "decision", "allow");
        assertThat(told(post(PAGE, other, browser))).containsOnlyKeys("error");
        var none = Map.of("next", NEXT, "decision", "allow");
        assertThat(told(post(PAGE, none, browser))).containsOnlyKeys("error");
        var right = Map.of("next", NEXT, "token", token, "decision", "allow");
        var foreign = new HashMap<>(browser);
        foreign.put("Origin", "http://8000-abc.cay.test:3000");
        assertThat(told(post(PAGE, right, foreign))).containsOnlyKeys("error");
        String others = formToken(browser("ann@example.org"), NEXT);
        var swapped = Map.of("next", NEXT, "token", others, "decision", "allow");
        assertThat(told(post(PAGE, swapped, browser))).as("of another browser").containsOnlyKeys("error");
        assertThat(told(post(PAGE, right, browser))).containsKey("accessToken");
    }

    @Test
    default void everyFailureGoesBackToTheProgram() {
        var browser = browser("ann@example.org");
        assertThat(told(decide(browser, "deny")).get("error")).contains("did not allow");
        String token = formToken(browser, NEXT);
        assertThat(cay().admin("DELETE", "/admin/teams/%s/members/ann@example.org".formatted(team()), "")
                        .status())
                .isEqualTo(200);
        var allow = Map.of("next", NEXT, "token", token, "decision", "allow");
        assertThat(told(post(PAGE, allow, browser)).get("error")).contains("member of no team");
        add("ann@example.org", "all");
        cay().store.away = true;
        assertThat(told(cay().request("GET", PAGE + "?next=" + NEXT, browser)).get("error"))
                .contains("database");
        assertThat(told(post(PAGE, allow, browser)).get("error")).contains("database");
        cay().store.away = false;
    }

    @Test
    default void aBrowserThatNobodySignedInWithIsToldHow() {
        var page = cay().request("GET", PAGE + "?next=" + NEXT, Map.of());
        assertThat(page.text())
                .contains("cay login")
                .contains("http-equiv=\"refresh\"")
                .doesNotContain("id=\"allow\"");
        var sent = post(PAGE, Map.of("next", NEXT, "token", "x", "decision", "allow"), Map.of());
        assertThat(sent.header("Location")).startsWith(PAGE + "?next=");
    }
}
