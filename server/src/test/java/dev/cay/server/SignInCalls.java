package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.life.Steps;
import java.net.URI;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;

/// People who sign in, and the programs that they let act for them.
interface SignInCalls extends ServerCalls {
    /// The team that Ann is a member of.
    String team();

    String NEXT = "http://localhost:4321";

    String PAGE = "/docs/api/cli";

    String ORIGIN = "http://cay.test:3000";

    Pattern HIDDEN = Pattern.compile("name=\"token\" value=\"([^\"]+)\"");

    default void add(String email, String scope) {
        var added = cay().admin(
                        "PUT",
                        "/admin/teams/%s/members/%s".formatted(team(), email),
                        "{\"scope\": \"%s\"}".formatted(scope));
        assertThat(added.status()).as(added.text()).isEqualTo(200);
    }

    default String link(String email) {
        var made = cay().admin("POST", "/admin/people/%s/link".formatted(email), "{}");
        assertThat(made.status()).as(made.text()).isEqualTo(201);
        String url = made.json().get("url").stringValue();
        assertThat(url).startsWith(ORIGIN + "/sign-in/link?token=cay_link_");
        return url.substring(url.indexOf("token=") + 6);
    }

    default TestServer.Answer post(String path, Map<String, String> form, Map<String, String> headers) {
        var all = new HashMap<>(headers);
        all.put("Content-Type", "application/x-www-form-urlencoded");
        all.putIfAbsent("Origin", ORIGIN);
        return cay().request("POST", path, all, encoded(form));
    }

    default String encoded(Map<String, String> form) {
        return String.join(
                "&",
                form.entrySet().stream()
                        .map(field ->
                                field.getKey() + "=" + URLEncoder.encode(field.getValue(), StandardCharsets.UTF_8))
                        .toList());
    }

    /// The cookie of a browser that signed in.
    default Map<String, String> browser(String email) {
        var taken = post("/sign-in/link", Map.of("token", link(email)), Map.of());
        assertThat(taken.status()).as(taken.text()).isEqualTo(303);
        String cookie = Objects.requireNonNull(taken.header("Set-Cookie"));
        assertThat(cookie).startsWith("cay_session=").contains("; HttpOnly; SameSite=Lax");
        return Map.of("Cookie", cookie.substring(0, cookie.indexOf(';')));
    }

    default String formToken(Map<String, String> browser, String next) {
        var page = cay().request("GET", PAGE + "?cliVersion=2.19.0&next=" + next, browser);
        assertThat(page.status()).as(page.text()).isEqualTo(200);
        var found = HIDDEN.matcher(page.text());
        assertThat(found.find()).as(page.text()).isTrue();
        return found.group(1);
    }

    default TestServer.Answer decide(Map<String, String> browser, String decision) {
        return post(PAGE, Map.of("next", NEXT, "token", formToken(browser, NEXT), "decision", decision), browser);
    }

    /// What the program is told by the browser.
    default Map<String, String> told(TestServer.Answer answer) {
        assertThat(answer.status()).as(answer.text()).isEqualTo(303);
        var location = URI.create(Objects.requireNonNull(answer.header("Location")));
        assertThat(location.toString()).startsWith(NEXT + "/?");
        var values = new HashMap<String, String>();
        for (String pair : location.getRawQuery().split("&")) {
            String[] parts = pair.split("=", 2);
            values.put(parts[0], URLDecoder.decode(parts[1], StandardCharsets.UTF_8));
        }
        return values;
    }

    default Map<String, String> login(String email) {
        var values = told(decide(browser(email), "allow"));
        assertThat(values)
                .containsOnlyKeys(
                        "email", "accessToken", "refreshToken", "tokenEndpoint", "revokeEndpoint", "clientId");
        return values;
    }

    default TestServer.Answer teams(Map<String, String> login) {
        return cay().request("GET", "/teams", Map.of("Authorization", "Bearer " + login.get("accessToken")));
    }

    default TestServer.Answer refresh(String token) {
        return post(
                "/oauth/token",
                Map.of("grant_type", "refresh_token", "refresh_token", token, "client_id", "e2b-cli"),
                Map.of());
    }

    default String key(TestServer.Answer teams) {
        assertThat(teams.status()).as(teams.text()).isEqualTo(200);
        return teams.json().get(0).get("apiKey").stringValue();
    }

    default int status(String key) {
        return cay().request("GET", "/sandboxes", Map.of("X-API-Key", key)).status();
    }

    /// Does something each time the server is at a step.
    default void at(String step, Runnable happens, Runnable meanwhile) {
        Steps.listen(reached -> {
            if (reached.equals(step)) {
                happens.run();
            }
        });
        try {
            meanwhile.run();
        } finally {
            Steps.listen(_ -> {});
        }
    }

    /// What follows is not done, as after a kill.
    default void die() {
        throw new IllegalStateException("killed");
    }

    default TestServer.Answer asPerson(Map<String, String> login, String method, String path) {
        return cay().request(
                        method,
                        path,
                        Map.of("Authorization", "Bearer " + login.get("accessToken"), "X-Team-ID", team()),
                        method.equals("GET") ? "" : "{\"name\": \"x\", \"templateID\": \"base\"}");
    }
}
