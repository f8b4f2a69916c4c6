package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/// Tokens of a program are renewed, end, and are not guessed or used twice.
interface SignInTokenContract extends SignInCalls {
    @Test
    default void refreshTokensRotateAndAReusedOneEndsTheSignIn() throws Exception {
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
        cay().clock.pass(Duration.ofSeconds(61));
        var reused = refresh(first);
        assertThat(reused.status()).isEqualTo(400);
        assertThat(reused.json().get("error").stringValue()).isEqualTo("invalid_grant");
        assertThat(refresh(second).json().get("error").stringValue()).isEqualTo("invalid_grant");
        assertThat(teams(login).status()).isEqualTo(401);
        assertThat(status(key)).as("a key that the thief may have").isEqualTo(401);
    }

    @Test
    default void aClientThatLostTheAnswerOfItsRefreshRepeatsItWithinAMinute() throws Exception {
        var login = login("ann@example.org");
        String first = login.get("refreshToken");
        String key = key(teams(login));
        String lost = refreshed(first);
        cay().clock.pass(Duration.ofSeconds(30));
        restart();
        String lostToo = refreshed(first);
        cay().clock.pass(Duration.ofSeconds(29));
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
    default void aRefreshTokenIsNotRepeatedOnceItsSuccessorWasUsedOrAfterAMinute() {
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
        cay().clock.pass(Duration.ofSeconds(60));
        assertThat(refresh(late.get("refreshToken")).status()).isEqualTo(400);
        assertThat(refresh(unused).status()).isEqualTo(400);
        assertThat(status(keyOfLate)).isEqualTo(401);
    }

    @Test
    default void ofClientsThatRepeatARefreshTogetherOneGoesOn() throws Exception {
        var login = login("ann@example.org");
        refreshed(login.get("refreshToken"));
        var answers = new ArrayList<CompletableFuture<String>>();
        for (int i = 0; i < 8; i++) {
            answers.add(CompletableFuture.supplyAsync(() -> refreshed(login.get("refreshToken"))));
        }
        for (var answer : answers) {
            answer.get(1, TimeUnit.MINUTES);
        }
        long good = cay().store
                .read(handle -> handle.createQuery(
                                "SELECT COUNT(*) FROM sign_in_secret WHERE parent IS NOT NULL AND used_at IS NULL")
                        .mapTo(Long.class)
                        .one());
        assertThat(good).isEqualTo(1);
    }

    @Test
    default void accessTokensEndAfterAnHourAndRefreshTokensAfterAMonth() {
        var login = login("ann@example.org");
        cay().clock.pass(Duration.ofSeconds(3599));
        assertThat(teams(login).status()).isEqualTo(200);
        cay().clock.pass(Duration.ofSeconds(1));
        assertThat(teams(login).status()).isEqualTo(401);
        cay().clock.pass(Duration.ofDays(30));
        assertThat(refresh(login.get("refreshToken")).status()).isEqualTo(400);
    }

    @Test
    default void forgedTokensOpenNothing() {
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
    default void logoutEndsTokensAndKeys() {
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
    default void logoutEndsKeysAlsoAfterTheRefreshTokenIsTooOld() {
        var login = login("ann@example.org");
        String key = key(teams(login));
        cay().clock.pass(Duration.ofDays(40));
        login("ann@example.org");
        assertThat(refresh(login.get("refreshToken")).status()).isEqualTo(400);
        assertThat(status(key)).as("keys have no end of their own").isEqualTo(200);
        var form = Map.of("token", login.get("refreshToken"), "client_id", "e2b-cli");
        assertThat(post("/oauth/revoke", form, Map.of()).status()).isEqualTo(200);
        assertThat(status(key)).isEqualTo(401);
    }

    @Test
    default void aKillBetweenTheEndOfASignInAndOfItsKeysLeavesNoKey() throws Exception {
        var reused = login("ann@example.org");
        String one = key(teams(reused));
        refresh(reused.get("refreshToken"));
        cay().clock.pass(Duration.ofSeconds(61));
        var given = login("ann@example.org");
        String two = key(teams(given));
        at("sign-in-ended", this::die, () -> {
            refresh(reused.get("refreshToken"));
            post("/oauth/revoke", Map.of("token", given.get("refreshToken"), "client_id", "e2b-cli"), Map.of());
        });
        restart();
        assertThat(status(one)).isEqualTo(401);
        assertThat(status(two)).isEqualTo(401);
        assertThat(status(cay().key)).isEqualTo(200);
    }

    /// Both for a logout and for a refresh token that comes twice.
    @Test
    default void theEndOfASignInCutsWhatIsUnderWayWithItsTokens() throws Exception {
        for (boolean logout : List.of(true, false)) {
            var login = login("ann@example.org");
            String sandbox = cay().create();
            var reached = new CountDownLatch(1);
            var go = new CountDownLatch(1);
            cay().node.onKill = _ -> hold(reached, go);
            var killing = CompletableFuture.supplyAsync(() -> {
                try {
                    return asPerson(login, "DELETE", "/sandboxes/" + sandbox).status();
                } catch (AssertionError cut) {
                    return 0;
                }
            });
            assertThat(reached.await(1, TimeUnit.MINUTES)).isTrue();
            if (logout) {
                var token = Map.of("token", login.get("refreshToken"), "client_id", login.get("clientId"));
                assertThat(post("/oauth/revoke", token, Map.of()).status()).isEqualTo(200);
            } else {
                assertThat(refresh(login.get("refreshToken")).status()).isEqualTo(200);
                cay().clock.pass(Duration.ofSeconds(61));
                assertThat(refresh(login.get("refreshToken")).status()).isEqualTo(400);
            }
            assertThat(killing.get(1, TimeUnit.MINUTES))
                    .as("logout: %s", logout)
                    .isZero();
            go.countDown();
            cay().node.onKill = _ -> {};
        }
    }

    @Test
    default void manyWrongSecretsFromOneAddressAreRefused() {
        for (int i = 0; i < 20; i++) {
            assertThat(refresh("cay_refresh_" + i).status()).isEqualTo(400);
        }
        for (var refused : List.of(refresh("cay_refresh_x"), cay().request("GET", "/sign-in/link?token=x", Map.of()))) {
            assertThat(refused.status()).as(refused.text()).isEqualTo(429);
            assertThat(refused.header("Retry-After")).as("ten minutes").isEqualTo("600");
        }
        assertThat(refresh(login("ann@example.org").get("refreshToken")).status())
                .as("somebody else with this address")
                .isEqualTo(200);
        cay().clock.pass(Duration.ofMinutes(10));
        assertThat(refresh("cay_refresh_x").status()).isEqualTo(400);
    }
}
