package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.life.Steps;
import java.net.URI;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// People sign in with one-time links, let the command line act for them, and leave again.
abstract class SignInContract extends ServerTest {
    private static final String NEXT = "http://localhost:4321";
    private static final String PAGE = "/docs/api/cli";
    private static final String ORIGIN = "http://cay.test:3000";
    private static final Pattern HIDDEN = Pattern.compile("name=\"token\" value=\"([^\"]+)\"");

    private String team = "";

    @BeforeEach
    void addAnn() {
        team = cay.admin("GET", "/admin/teams", "").json().get(0).get("teamID").stringValue();
        add("ann@example.org", "all");
    }

    private void add(String email, String scope) {
        var added = cay.admin(
                "PUT", "/admin/teams/%s/members/%s".formatted(team, email), "{\"scope\": \"%s\"}".formatted(scope));
        assertThat(added.status()).as(added.text()).isEqualTo(200);
    }

    private String link(String email) {
        var made = cay.admin("POST", "/admin/people/%s/link".formatted(email), "{}");
        assertThat(made.status()).as(made.text()).isEqualTo(201);
        String url = made.json().get("url").stringValue();
        assertThat(url).startsWith(ORIGIN + "/sign-in/link?token=cay_link_");
        return url.substring(url.indexOf("token=") + 6);
    }

    private TestServer.Answer post(String path, Map<String, String> form, Map<String, String> headers) {
        var all = new HashMap<>(headers);
        all.put("Content-Type", "application/x-www-form-urlencoded");
        all.putIfAbsent("Origin", ORIGIN);
        return cay.request("POST", path, all, encoded(form));
    }

    private static String encoded(Map<String, String> form) {
        return String.join(
                "&",
                form.entrySet().stream()
                        .map(field ->
                                field.getKey() + "=" + URLEncoder.encode(field.getValue(), StandardCharsets.UTF_8))
                        .toList());
    }

    /// The cookie of a browser that signed in.
    private Map<String, String> browser(String email) {
        var taken = post("/sign-in/link", Map.of("token", link(email)), Map.of());
        assertThat(taken.status()).as(taken.text()).isEqualTo(303);
        String cookie = Objects.requireNonNull(taken.header("Set-Cookie"));
        assertThat(cookie).startsWith("cay_session=").contains("; HttpOnly; SameSite=Lax");
        return Map.of("Cookie", cookie.substring(0, cookie.indexOf(';')));
    }

    private String formToken(Map<String, String> browser, String next) {
        var page = cay.request("GET", PAGE + "?cliVersion=2.19.0&next=" + next, browser);
        assertThat(page.status()).as(page.text()).isEqualTo(200);
        var found = HIDDEN.matcher(page.text());
        assertThat(found.find()).as(page.text()).isTrue();
        return found.group(1);
    }

    private TestServer.Answer decide(Map<String, String> browser, String decision) {
        return post(PAGE, Map.of("next", NEXT, "token", formToken(browser, NEXT), "decision", decision), browser);
    }

    /// What the program is told by the browser.
    private static Map<String, String> told(TestServer.Answer answer) {
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

    private Map<String, String> login(String email) {
        var values = told(decide(browser(email), "allow"));
        assertThat(values)
                .containsOnlyKeys(
                        "email", "accessToken", "refreshToken", "tokenEndpoint", "revokeEndpoint", "clientId");
        return values;
    }

    private TestServer.Answer teams(Map<String, String> login) {
        return cay.request("GET", "/teams", Map.of("Authorization", "Bearer " + login.get("accessToken")));
    }

    private TestServer.Answer refresh(String token) {
        return post(
                "/oauth/token",
                Map.of("grant_type", "refresh_token", "refresh_token", token, "client_id", "e2b-cli"),
                Map.of());
    }

    private static String key(TestServer.Answer teams) {
        assertThat(teams.status()).as(teams.text()).isEqualTo(200);
        return teams.json().get(0).get("apiKey").stringValue();
    }

    private int status(String key) {
        return cay.request("GET", "/sandboxes", Map.of("X-API-Key", key)).status();
    }

    @Test
    void aLinkSignsABrowserInWhichLetsTheCommandLineActForThePerson() {
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
        assertThat(teams.get(0).get("teamID").stringValue()).isEqualTo(team);
        assertThat(status(teams.get(0).get("apiKey").stringValue())).isEqualTo(200);
    }

    private static JsonNode claims(String token) {
        return JsonMapper.shared().readTree(Base64.getUrlDecoder().decode(token.split("\\.")[1]));
    }

    @Test
    void aLinkIsGoodOnceAndForTenMinutes() {
        String link = link("ann@example.org");
        assertThat(cay.request("GET", "/sign-in/link?token=" + link, Map.of()).text())
                .contains("Sign in as ann@example.org");
        assertThat(cay.request("HEAD", "/sign-in/link?token=" + link, Map.of()).status())
                .isEqualTo(200);
        assertThat(post("/sign-in/link", Map.of("token", link), Map.of()).status())
                .isEqualTo(303);
        assertThat(post("/sign-in/link", Map.of("token", link), Map.of()).status())
                .isEqualTo(404);
        String old = link("ann@example.org");
        cay.clock.pass(Duration.ofMinutes(10));
        assertThat(post("/sign-in/link", Map.of("token", old), Map.of()).status())
                .isEqualTo(404);
    }

    @Test
    void onlyTheOperatorMakesLinks() {
        for (var headers : List.of(
                Map.<String, String>of(),
                Map.of("X-API-Key", cay.key),
                Map.of("Authorization", "Bearer " + login("ann@example.org").get("accessToken")))) {
            assertThat(cay.request("POST", "/admin/people/ann@example.org/link", headers, "{}")
                            .status())
                    .isEqualTo(401);
        }
        assertThat(cay.admin("POST", "/admin/people/eve@example.org/link", "{}").message())
                .contains("cay team member add");
    }

    @Test
    void nobodyButTheOperatorsOwnPageSignsABrowserIn() {
        String link = link("ann@example.org");
        for (String origin : List.of("http://8000-abc.cay.test:3000", "null", "http://evil.example")) {
            assertThat(post("/sign-in/link", Map.of("token", link), Map.of("Origin", origin))
                            .status())
                    .isEqualTo(403);
        }
        assertThat(post("/sign-in/link", Map.of("token", link), Map.of("Sec-Fetch-Site", "same-site"))
                        .status())
                .isEqualTo(403);
    }

    /// What must not be taken for a port of the browser's own machine.
    private static final List<String> ELSEWHERE = List.of(
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
    void tokensGoNowhereButToTheOwnMachine() {
        var browser = browser("ann@example.org");
        String token = formToken(browser, NEXT);
        for (String next : ELSEWHERE) {
            var shown = cay.request("GET", PAGE + "?next=" + URLEncoder.encode(next, StandardCharsets.UTF_8), browser);
            assertThat(shown.status()).as(next).isEqualTo(400);
            var sent = post(PAGE, Map.of("next", next, "token", token, "decision", "allow"), browser);
            assertThat(sent.status()).as(next).isEqualTo(400);
            assertThat(sent.header("Location")).as(next).isNull();
        }
    }

    @Test
    void bothNamesOfTheOwnMachineAreServed() {
        var browser = browser("ann@example.org");
        for (String next : List.of("http://127.0.0.1:4321", "http://localhost:4321/")) {
            assertThat(cay.request("GET", PAGE + "?next=" + next, browser).text())
                    .contains("id=\"allow\"");
        }
    }

    @Test
    void aForgedAnswerIsRefusedAndTheProgramHearsOfIt() {
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
    void everyFailureGoesBackToTheProgram() {
        var browser = browser("ann@example.org");
        assertThat(told(decide(browser, "deny")).get("error")).contains("did not allow");
        String token = formToken(browser, NEXT);
        assertThat(cay.admin("DELETE", "/admin/teams/%s/members/ann@example.org".formatted(team), "")
                        .status())
                .isEqualTo(200);
        var allow = Map.of("next", NEXT, "token", token, "decision", "allow");
        assertThat(told(post(PAGE, allow, browser)).get("error")).contains("member of no team");
        add("ann@example.org", "all");
        cay.store.away = true;
        assertThat(told(cay.request("GET", PAGE + "?next=" + NEXT, browser)).get("error"))
                .contains("database");
        assertThat(told(post(PAGE, allow, browser)).get("error")).contains("database");
        cay.store.away = false;
    }

    @Test
    void aBrowserThatNobodySignedInWithIsToldHow() {
        var page = cay.request("GET", PAGE + "?next=" + NEXT, Map.of());
        assertThat(page.text())
                .contains("cay login")
                .contains("http-equiv=\"refresh\"")
                .doesNotContain("id=\"allow\"");
        var sent = post(PAGE, Map.of("next", NEXT, "token", "x", "decision", "allow"), Map.of());
        assertThat(sent.header("Location")).startsWith(PAGE + "?next=");
    }

    @Test
    void pagesRunNothingAndStandInNoFrame() {
        var browser = browser("ann@example.org");
        for (String path : List.of(
                PAGE + "?next=" + NEXT,
                PAGE + "?state=success&email=%3Cscript%3E",
                PAGE + "?state=error&error=%3Cscript%3E",
                "/sign-in")) {
            var page = cay.request("GET", path, browser);
            assertThat(page.header("Content-Security-Policy"))
                    .contains("default-src 'none'")
                    .contains("frame-ancestors 'none'");
            assertThat(page.header("X-Frame-Options")).isEqualTo("DENY");
            assertThat(page.header("Access-Control-Allow-Credentials")).isNull();
            assertThat(page.header("Cache-Control")).isEqualTo("no-store");
            assertThat(page.text()).doesNotContain("<script");
        }
    }

    @Test
    void refreshTokensRotateAndAReusedOneEndsTheSignIn() throws Exception {
        var login = login("ann@example.org");
        String first = login.get("refreshToken");
        String key = key(teams(login));
        restart();
        var renewed = refresh(first).json();
        String second = renewed.get("refresh_token").stringValue();
        assertThat(second).isNotEqualTo(first);
        assertThat(renewed.get("expires_in").intValue()).isEqualTo(3600);
        login.put("accessToken", renewed.get("access_token").stringValue());
        assertThat(teams(login).status()).isEqualTo(200);
        cay.clock.pass(Duration.ofSeconds(61));
        var reused = refresh(first);
        assertThat(reused.status()).isEqualTo(400);
        assertThat(reused.json().get("error").stringValue()).isEqualTo("invalid_grant");
        assertThat(refresh(second).json().get("error").stringValue()).isEqualTo("invalid_grant");
        assertThat(teams(login).status()).isEqualTo(401);
        assertThat(status(key)).as("a key that the thief may have").isEqualTo(401);
    }

    @Test
    void aClientThatLostTheAnswerOfItsRefreshRepeatsItWithinAMinute() throws Exception {
        var login = login("ann@example.org");
        String first = login.get("refreshToken");
        String key = key(teams(login));
        String lost = refreshed(first);
        cay.clock.pass(Duration.ofSeconds(30));
        restart();
        String lostToo = refreshed(first);
        cay.clock.pass(Duration.ofSeconds(29));
        String third = refreshed(first);
        assertThat(List.of(lost, lostToo, third)).doesNotHaveDuplicates();
        assertThat(status(key)).isEqualTo(200);
        String fourth = refreshed(third);
        assertThat(status(key)).isEqualTo(200);
        // Whoever has a token of the lost answers is not the client.
        assertThat(refresh(lost).json().get("error").stringValue()).isEqualTo("invalid_grant");
        assertThat(refresh(fourth).status()).isEqualTo(400);
        assertThat(status(key)).isEqualTo(401);
    }

    private String refreshed(String token) {
        var answer = refresh(token);
        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
        return answer.json().get("refresh_token").stringValue();
    }

    @Test
    void aRefreshTokenIsNotRepeatedOnceItsSuccessorWasUsedOrAfterAMinute() {
        var login = login("ann@example.org");
        String key = key(teams(login));
        String second = refreshed(login.get("refreshToken"));
        String third = refreshed(second);
        assertThat(refresh(login.get("refreshToken")).status()).isEqualTo(400);
        assertThat(refresh(third).status()).isEqualTo(400);
        assertThat(status(key)).isEqualTo(401);

        var late = login("ann@example.org");
        String keyOfLate = key(teams(late));
        String unused = refreshed(late.get("refreshToken"));
        cay.clock.pass(Duration.ofSeconds(60));
        assertThat(refresh(late.get("refreshToken")).status()).isEqualTo(400);
        assertThat(refresh(unused).status()).isEqualTo(400);
        assertThat(status(keyOfLate)).isEqualTo(401);
    }

    @Test
    void ofClientsThatRepeatARefreshTogetherOneGoesOn() throws Exception {
        var login = login("ann@example.org");
        refreshed(login.get("refreshToken"));
        var answers = new ArrayList<CompletableFuture<String>>();
        for (int i = 0; i < 8; i++) {
            answers.add(CompletableFuture.supplyAsync(() -> refreshed(login.get("refreshToken"))));
        }
        for (var answer : answers) {
            answer.get(20, TimeUnit.SECONDS);
        }
        long good = cay.store.read(handle -> handle.createQuery(
                        "SELECT COUNT(*) FROM sign_in_secret WHERE parent IS NOT NULL AND used_at IS NULL")
                .mapTo(Long.class)
                .one());
        assertThat(good).isEqualTo(1);
    }

    @Test
    void accessTokensEndAfterAnHourAndRefreshTokensAfterAMonth() {
        var login = login("ann@example.org");
        cay.clock.pass(Duration.ofSeconds(3599));
        assertThat(teams(login).status()).isEqualTo(200);
        cay.clock.pass(Duration.ofSeconds(1));
        assertThat(teams(login).status()).isEqualTo(401);
        cay.clock.pass(Duration.ofDays(30));
        assertThat(refresh(login.get("refreshToken")).status()).isEqualTo(400);
    }

    @Test
    void forgedTokensOpenNothing() {
        String good = login("ann@example.org").get("accessToken");
        String[] parts = good.split("\\.");
        var url = Base64.getUrlEncoder().withoutPadding();
        String none = url.encodeToString("{\"alg\":\"none\"}".getBytes(StandardCharsets.UTF_8));
        String more = new String(Base64.getUrlDecoder().decode(parts[1]), StandardCharsets.UTF_8)
                .replaceAll("\"exp\":\\d+", "\"exp\":99999999999");
        String longer = url.encodeToString(more.getBytes(StandardCharsets.UTF_8));
        for (String forged : List.of(
                none + "." + parts[1] + ".",
                none + "." + parts[1] + "." + parts[2],
                parts[0] + "." + longer + "." + parts[2],
                parts[0] + "." + parts[1] + "." + url.encodeToString(new byte[32]))) {
            assertThat(teams(Map.of("accessToken", forged)).status()).as(forged).isEqualTo(401);
        }
    }

    @Test
    void logoutEndsTokensAndKeys() {
        var login = login("ann@example.org");
        String key = key(teams(login));
        var form =
                Map.of("token", login.get("refreshToken"), "token_type_hint", "refresh_token", "client_id", "e2b-cli");
        assertThat(post("/oauth/revoke", form, Map.of()).status()).isEqualTo(200);
        assertThat(refresh(login.get("refreshToken")).status()).isEqualTo(400);
        assertThat(teams(login).status()).isEqualTo(401);
        assertThat(status(key)).isEqualTo(401);
    }

    /// A program that uses its key alone does not renew its token.
    @Test
    void logoutEndsKeysAlsoAfterTheRefreshTokenIsTooOld() {
        var login = login("ann@example.org");
        String key = key(teams(login));
        cay.clock.pass(Duration.ofDays(40));
        login("ann@example.org");
        assertThat(refresh(login.get("refreshToken")).status()).isEqualTo(400);
        assertThat(status(key)).as("keys have no end of their own").isEqualTo(200);
        var form = Map.of("token", login.get("refreshToken"), "client_id", "e2b-cli");
        assertThat(post("/oauth/revoke", form, Map.of()).status()).isEqualTo(200);
        assertThat(status(key)).isEqualTo(401);
    }

    /// Does something each time the server is at a step.
    private static void at(String step, Runnable happens, Runnable meanwhile) {
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
    private static void die() {
        throw new IllegalStateException("killed");
    }

    @Test
    void aKillBetweenTheEndOfASignInAndOfItsKeysLeavesNoKey() throws Exception {
        var reused = login("ann@example.org");
        String one = key(teams(reused));
        refresh(reused.get("refreshToken"));
        cay.clock.pass(Duration.ofSeconds(61));
        var given = login("ann@example.org");
        String two = key(teams(given));
        at("sign-in-ended", SignInContract::die, () -> {
            refresh(reused.get("refreshToken"));
            post("/oauth/revoke", Map.of("token", given.get("refreshToken"), "client_id", "e2b-cli"), Map.of());
        });
        restart();
        assertThat(status(one)).isEqualTo(401);
        assertThat(status(two)).isEqualTo(401);
        assertThat(status(cay.key)).isEqualTo(200);
    }

    @Test
    void aKillBetweenAChangeOfRightsAndTheEndOfKeysLeavesNoWiderKey() throws Exception {
        String key = key(teams(login("ann@example.org")));
        at(
                "rights-changed",
                SignInContract::die,
                () -> cay.admin(
                        "PUT", "/admin/teams/%s/members/ann@example.org".formatted(team), "{\"scope\": \"read\"}"));
        restart();
        assertThat(status(key)).isEqualTo(401);
    }

    /// A daemon would sign in with this at once when the person is added again.
    @Test
    void whoIsRemovedWhileTheySignInIsNotSignedInWhenTheyComeBack() {
        var browser = browser("ann@example.org");
        String form = formToken(browser, NEXT);
        var values = new HashMap<String, String>();
        at(
                "sign-in-begins",
                () -> cay.admin("DELETE", "/admin/people/ann@example.org", ""),
                () -> values.putAll(
                        told(post(PAGE, Map.of("next", NEXT, "token", form, "decision", "allow"), browser))));
        assertThat(values).containsOnlyKeys("error");
        add("ann@example.org", "all");
        int signIns = cay.store.read(handle -> handle.createQuery("SELECT count(*) FROM sign_in WHERE kind = 'program'")
                .mapTo(Integer.class)
                .one());
        assertThat(signIns).isZero();
    }

    @Test
    void aTeamWithoutRoomForAKeyLeavesNoKeysOfTheOthersBehind() throws Exception {
        // The other team comes first.
        cay.clock.pass(Duration.ofSeconds(1));
        String full = cay.admin("POST", "/admin/teams", "{\"name\": \"Full\"}")
                .json()
                .get("teamID")
                .stringValue();
        cay.admin("PUT", "/admin/teams/%s/members/ann@example.org".formatted(full), "{}");
        cay.store.write(handle -> {
            for (int i = 0; i < 1000; i++) {
                handle.execute("""
                        INSERT INTO api_key (id, team_id, name, hash, mask_prefix, mask_suffix, scope, created_at)
                        VALUES (?, ?, 'n', ?, 'p', 's', 'all', 1) ON CONFLICT DO NOTHING
                        """, "many" + i, full, "hash" + i);
            }
            return full;
        });
        restart();
        var before = cay.call("GET", "/api-keys").json().size();
        var refused = teams(login("ann@example.org"));
        assertThat(refused.status()).isEqualTo(429);
        assertThat(refused.text()).contains("1000 API keys");
        assertThat(cay.call("GET", "/api-keys").json().size()).isEqualTo(before);
    }

    /// Lower case of some letters that are not ASCII is ASCII: U+212A is the sign of the unit kelvin.
    @Test
    void noAddressIsTakenForAnother() {
        add("frank@example.org", "all");
        add("Fran\u212a@example.org".replace("\u212a", "%E2%84%AA"), "read");
        assertThat(cay.admin("GET", "/admin/teams/%s/members".formatted(team), "")
                        .json()
                        .valueStream()
                        .filter(member -> member.get("email").stringValue().equals("frank@example.org"))
                        .map(member -> member.get("scope").stringValue()))
                .containsExactly("all");
    }

    @Test
    void theAuditLogHasARequestForTeamsWithoutACredential() {
        assertThat(cay.request("GET", "/teams", Map.of()).status()).isEqualTo(401);
        var entry = entry("team");
        assertThat(entry.get("request").stringValue()).isEqualTo("GET /teams");
        assertThat(entry.get("result").stringValue()).isEqualTo("refused");
        assertThat(entry.get("credential").stringValue()).isEqualTo("none");
    }

    @Test
    void signingOutEndsTheCookie() {
        var browser = browser("ann@example.org");
        var home = cay.request("GET", "/sign-in", browser);
        var found = HIDDEN.matcher(home.text());
        assertThat(found.find()).isTrue();
        var token = cay.request("POST", "/sign-in/token", withOrigin(browser))
                .json()
                .get("accessToken")
                .stringValue();
        assertThat(teams(Map.of("accessToken", token)).status()).isEqualTo(200);
        assertThat(post("/sign-in/out", Map.of("token", found.group(1)), browser)
                        .status())
                .isEqualTo(303);
        assertThat(cay.request("GET", "/sign-in", browser).text()).contains("cay login");
        assertThat(teams(Map.of("accessToken", token)).status()).isEqualTo(401);
    }

    private static Map<String, String> withOrigin(Map<String, String> browser) {
        var all = new HashMap<>(browser);
        all.put("Origin", ORIGIN);
        return all;
    }

    @Test
    void anotherOriginGetsNoTokenForACookie() {
        var browser = new HashMap<>(browser("ann@example.org"));
        assertThat(cay.request("POST", "/sign-in/token", browser).status()).isEqualTo(403);
        browser.put("Origin", "http://8000-abc.cay.test:3000");
        assertThat(cay.request("POST", "/sign-in/token", browser).status()).isEqualTo(403);
    }

    @Test
    void aPersonHasTenKeysAndTheOldestGoes() {
        var login = login("ann@example.org");
        String first = key(teams(login));
        for (int i = 0; i < 9; i++) {
            cay.clock.pass(Duration.ofSeconds(1));
            teams(login);
        }
        assertThat(status(first)).isEqualTo(200);
        cay.clock.pass(Duration.ofSeconds(1));
        teams(login);
        assertThat(status(first)).isEqualTo(401);
        assertThat(cay.call("GET", "/api-keys").json()).hasSize(11);
        assertThat(cay.call("GET", "/sandboxes").status()).as("other keys").isEqualTo(200);
    }

    @Test
    void theAuditLogNamesThePerson() {
        var login = login("ann@example.org");
        assertThat(asPerson(login, "POST", "/api-keys").status()).isEqualTo(201);
        TestServer.await(
                "the entry",
                () -> cay.admin("GET", "/admin/audit?action=key.create", "")
                        .text()
                        .contains("ann@example.org"));
        var entry =
                cay.admin("GET", "/admin/audit?action=key.create", "").json().get(0);
        assertThat(entry.get("actor").stringValue()).startsWith("person:");
        assertThat(entry.get("credential").stringValue()).isEqualTo("ann@example.org");
    }

    /// Keys of programs are revoked at logout, and no list has them any more.
    @Test
    void theAuditLogNamesThePersonBehindEveryKeyAlsoAfterLogout() {
        var login = login("ann@example.org");
        String key = key(teams(login));
        var created = cay.request("POST", "/v2/sandboxes", Map.of("X-API-Key", key), "{\"templateID\":\"base\"}");
        assertThat(created.status()).isEqualTo(201);
        var token = Map.of("token", login.get("refreshToken"), "client_id", login.get("clientId"));
        assertThat(post("/oauth/revoke", token, Map.of()).status()).isEqualTo(200);
        var minted = entry("key.mint");
        assertThat(minted.get("actor").stringValue()).isEqualTo("person:" + id("ann@example.org"));
        assertThat(minted.get("credential").stringValue()).isEqualTo("ann@example.org");
        assertThat(minted.get("team").stringValue()).isEqualTo(team);
        var used = entry("sandbox.create");
        assertThat(used.get("actor").stringValue())
                .isEqualTo("key:" + minted.get("key").stringValue());
        assertThat(used.get("person").stringValue()).isEqualTo(id("ann@example.org"));
    }

    @Test
    void theAuditLogNamesWhomTheOperatorAddsLetsInAndRemoves() {
        add("bob@example.org", "read");
        String id = id("bob@example.org");
        link("bob@example.org");
        String member = "/admin/teams/%s/members/bob@example.org".formatted(team);
        assertThat(cay.admin("DELETE", member, "").status()).isEqualTo(200);
        assertThat(cay.admin("DELETE", "/admin/people/bob@example.org", "").status())
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
        TestServer.await(action, () -> !cay.admin("GET", path, "").json().isEmpty());
        return cay.admin("GET", path, "").json().get(0);
    }

    private String id(String email) {
        return cay.admin("GET", "/admin/people", "")
                .json()
                .valueStream()
                .filter(person -> person.get("email").stringValue().equals(email))
                .map(person -> person.get("id").stringValue())
                .findFirst()
                .orElseThrow();
    }

    /// Each answer writes two rows for each team of the person.
    @Test
    void requestsForKeysCountAndOnePersonGetsSoManyOfThem() {
        add("bob@example.org", "read");
        var login = login("bob@example.org");
        for (int i = 0; i < 30; i++) {
            assertThat(teams(login).status()).as("call %d", i).isEqualTo(200);
        }
        var more = teams(login);
        assertThat(more.status()).isEqualTo(429);
        assertThat(more.header("Retry-After")).isNotNull();
        var other = login("ann@example.org");
        assertThat(cay.admin("PUT", "/admin/teams/%s/limits".formatted(team), "{\"apiCallsPer30s\": 2}")
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
    void theAuditLogTellsWhoSignsInAndOutAndWhoIsRefused() {
        var login = login("ann@example.org");
        post("/sign-in/link", Map.of("token", "cay_link_guessed"), Map.of());
        var token = Map.of("token", login.get("refreshToken"), "client_id", login.get("clientId"));
        assertThat(post("/oauth/revoke", token, Map.of()).status()).isEqualTo(200);
        TestServer.await(
                "the last entry",
                () -> cay.admin("GET", "/admin/audit?action=person.sign-out", "")
                                .json()
                                .size()
                        == 1);
        var entries = cay.admin("GET", "/admin/audit?action=person", "");
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

    @Test
    void whoIsRemovedFromATeamLosesTokenAndKeysThere() {
        var login = login("ann@example.org");
        String key = key(teams(login));
        var made = cay.request(
                "POST",
                "/api-keys",
                Map.of("Authorization", "Bearer " + login.get("accessToken"), "X-Team-ID", team),
                "{\"name\": \"ci\"}");
        assertThat(made.status()).as(made.text()).isEqualTo(201);
        var gone = cay.admin("DELETE", "/admin/teams/%s/members/ann@example.org".formatted(team), "");
        assertThat(gone.json().get("keptKeys").findValuesAsString("name")).containsExactly("ci");
        assertThat(status(key)).isEqualTo(401);
        assertThat(teams(login).status()).isEqualTo(403);
        assertThat(asPerson(login, "GET", "/sandboxes").status()).isEqualTo(403);
        assertThat(status(made.json().get("key").stringValue())).isEqualTo(200);
    }

    /// Whoever may open sandboxes of a team may have read the tokens of all of them.
    @Test
    void tokensOfSandboxesAreRenewedWithTheRemovalAndKeysThatStayAreNamed() {
        var login = login("ann@example.org");
        var made = cay.request(
                "POST",
                "/api-keys",
                Map.of("Authorization", "Bearer " + login.get("accessToken"), "X-Team-ID", team),
                "{\"name\": \"ci\"}");
        assertThat(made.status()).isEqualTo(201);
        String sandbox = cay.create();
        String path = "/admin/teams/%s/members/ann@example.org".formatted(team);
        String first = token(sandbox);
        var same = cay.admin("PUT", path + "?sandboxes=true", "{\"scope\": \"all\"}")
                .json();
        assertThat(same.has("renewedSandboxes")).isFalse();
        assertThat(same.get("keptKeys")).isEmpty();
        var less = cay.admin("PUT", path + "?sandboxes=true", "{\"scope\": \"read\"}")
                .json();
        assertThat(less.get("keptKeys").findValuesAsString("name")).containsExactly("ci");
        assertThat(less.get("renewedSandboxes").intValue()).isEqualTo(1);
        String second = token(sandbox);
        assertThat(second).isNotEqualTo(first);
        assertThat(cay.admin("PUT", path, "{\"scope\": \"sandboxes\"}").json().get("keptKeys"))
                .as("a key that may do everything, of somebody who may not")
                .hasSize(1);
        assertThat(cay.admin("DELETE", path, "").json().has("renewedSandboxes")).isFalse();
        assertThat(token(sandbox)).isEqualTo(second);
        add("ann@example.org", "sandboxes");
        assertThat(cay.admin("DELETE", "/admin/people/ann@example.org?sandboxes=true", "")
                        .json()
                        .get("renewedSandboxes")
                        .intValue())
                .isEqualTo(1);
        assertThat(token(sandbox)).isNotEqualTo(second);
    }

    /// Both for a logout and for a refresh token that comes twice.
    @Test
    void theEndOfASignInCutsWhatIsUnderWayWithItsTokens() throws Exception {
        for (boolean logout : List.of(true, false)) {
            var login = login("ann@example.org");
            String sandbox = cay.create();
            var reached = new CountDownLatch(1);
            var go = new CountDownLatch(1);
            cay.node.onKill = _ -> {
                reached.countDown();
                awaitUninterruptibly(go);
            };
            var killing = CompletableFuture.supplyAsync(() -> {
                try {
                    return asPerson(login, "DELETE", "/sandboxes/" + sandbox).status();
                } catch (AssertionError cut) {
                    return 0;
                }
            });
            assertThat(reached.await(10, TimeUnit.SECONDS)).isTrue();
            if (logout) {
                var token = Map.of("token", login.get("refreshToken"), "client_id", login.get("clientId"));
                assertThat(post("/oauth/revoke", token, Map.of()).status()).isEqualTo(200);
            } else {
                assertThat(refresh(login.get("refreshToken")).status()).isEqualTo(200);
                cay.clock.pass(Duration.ofSeconds(61));
                assertThat(refresh(login.get("refreshToken")).status()).isEqualTo(400);
            }
            assertThat(killing.get(10, TimeUnit.SECONDS))
                    .as("logout: %s", logout)
                    .isZero();
            go.countDown();
            cay.node.onKill = _ -> {};
        }
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            latch.await(20, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void aPersonHasTenKeysAlsoWhenTheyAskForManyAtOnce() throws Exception {
        var login = login("ann@example.org");
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < 25; i++) {
                threads.submit(() -> teams(login));
            }
        }
        assertThat(cay.call("GET", "/api-keys")
                        .json()
                        .valueStream()
                        .filter(key -> key.get("name").stringValue().startsWith("E2B CLI")))
                .hasSize(10);
    }

    @Test
    void whoIsRemovedIsSignedOutEverywhere() {
        var browser = browser("ann@example.org");
        var login = told(decide(browser, "allow"));
        String key = key(teams(login));
        String link = link("ann@example.org");
        assertThat(cay.admin("DELETE", "/admin/people/ann@example.org", "").status())
                .isEqualTo(200);
        assertThat(status(key)).isEqualTo(401);
        assertThat(teams(login).status()).isEqualTo(401);
        assertThat(refresh(login.get("refreshToken")).status()).isEqualTo(400);
        assertThat(cay.request("GET", "/sign-in", browser).text()).contains("cay login");
        assertThat(post("/sign-in/link", Map.of("token", link), Map.of()).status())
                .isEqualTo(404);
        assertThat(cay.admin("POST", "/admin/people/ann@example.org/link", "{}").status())
                .isEqualTo(404);
        add("ann@example.org", "all");
        assertThat(teams(login).status()).as("tokens from before").isEqualTo(401);
    }

    /// The daemon was killed between the removal and the end of the keys.
    @Test
    void aStartEndsKeysOfPeopleWhoAreGone() throws Exception {
        String key = key(teams(login("ann@example.org")));
        cay.store.write(handle -> handle.execute("UPDATE member SET removed_at = 1"));
        restart();
        assertThat(status(key)).isEqualTo(401);
        assertThat(status(cay.key)).isEqualTo(200);
    }

    private TestServer.Answer asPerson(Map<String, String> login, String method, String path) {
        return cay.request(
                method,
                path,
                Map.of("Authorization", "Bearer " + login.get("accessToken"), "X-Team-ID", team),
                method.equals("GET") ? "" : "{\"name\": \"x\", \"templateID\": \"base\"}");
    }

    @Test
    void aPersonDoesWhatTheirScopeAllowsAndGetsNoWiderKey() {
        add("bob@example.org", "read");
        var login = login("bob@example.org");
        assertThat(asPerson(login, "GET", "/sandboxes").status()).isEqualTo(200);
        assertThat(asPerson(login, "POST", "/sandboxes").status()).isEqualTo(403);
        assertThat(asPerson(login, "POST", "/api-keys").status()).isEqualTo(403);
        String key = key(teams(login));
        assertThat(status(key)).isEqualTo(200);
        assertThat(cay.request("POST", "/sandboxes", Map.of("X-API-Key", key), "{\"templateID\":\"base\"}")
                        .status())
                .isEqualTo(403);
        assertThat(cay.request("GET", "/teams", Map.of("X-API-Key", key))
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
    void aPersonNamesOneOfTheirTeams() {
        String other = cay.admin("POST", "/admin/teams", "{\"name\": \"other\"}")
                .json()
                .get("teamID")
                .stringValue();
        var login = login("ann@example.org");
        String bearer = "Bearer " + login.get("accessToken");
        assertThat(cay.request("GET", "/api-keys", Map.of("Authorization", bearer))
                        .message())
                .contains("X-Team-ID");
        assertThat(cay.request("GET", "/api-keys", Map.of("Authorization", bearer, "X-Team-ID", other))
                        .status())
                .isEqualTo(403);
        assertThat(asPerson(login, "GET", "/api-keys").json()).hasSize(1);
        var made = asPerson(login, "POST", "/api-keys").json();
        assertThat(made.get("madeBy").isString()).isTrue();
        String path = "/api-keys/" + made.get("id").stringValue();
        assertThat(asPerson(login, "PATCH", path).status()).isEqualTo(200);
        assertThat(asPerson(login, "DELETE", path).status()).isEqualTo(204);
    }

    @Test
    void manyWrongSecretsFromOneAddressAreRefused() {
        for (int i = 0; i < 20; i++) {
            assertThat(refresh("cay_refresh_" + i).status()).isEqualTo(400);
        }
        assertThat(refresh("cay_refresh_x").status()).isEqualTo(429);
        assertThat(cay.request("GET", "/sign-in/link?token=x", Map.of()).status())
                .isEqualTo(429);
        assertThat(refresh(login("ann@example.org").get("refreshToken")).status())
                .as("somebody else with this address")
                .isEqualTo(200);
        cay.clock.pass(Duration.ofMinutes(10));
        assertThat(refresh("cay_refresh_x").status()).isEqualTo(400);
    }

    @Test
    void theStoreHasOnlyHashes() {
        var browser = browser("ann@example.org");
        var login = told(decide(browser, "allow"));
        String link = link("ann@example.org");
        String cookie = browser.get("Cookie").substring("cay_session=".length());
        cay.store.read(handle -> {
            for (String table : List.of("sign_in_link", "sign_in_secret", "sign_in")) {
                String rows = handle.createQuery("SELECT * FROM " + table)
                        .mapToMap()
                        .list()
                        .toString();
                assertThat(rows).doesNotContain(link, cookie, login.get("refreshToken"), login.get("accessToken"));
            }
            return 0;
        });
    }

    @Test
    void sandboxesSeeNeitherTokenNorCookie() {
        String id = cay.create();
        var headers = new HashMap<>(browser("ann@example.org"));
        headers.put("Authorization", "Bearer " + login("ann@example.org").get("accessToken"));
        headers.put("Host", "8000-" + id + ".cay.test:8443");
        assertThat(cay.request("GET", "/", headers)
                        .json()
                        .get("withheld")
                        .valueStream()
                        .map(JsonNode::stringValue))
                .contains("authorization", "cookie");
    }
}
