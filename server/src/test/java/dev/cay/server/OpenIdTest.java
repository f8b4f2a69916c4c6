package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.nimbusds.jwt.JWTClaimsSet;
import dev.cay.server.people.PersonAccess;
import dev.cay.server.people.openid.IssuerSettings;
import dev.cay.testing.Fast;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// People sign in with an issuer of OpenID Connect, which the test runs.
@Fast
final class OpenIdTest {
    private static final String NEXT = "http://localhost:4321";
    private static final String BASE = "http://cay.test:3000";

    @TempDir
    Path directory;

    private TestIssuer issuer;
    private TestServer cay;

    @BeforeEach
    void start() throws Exception {
        issuer = new TestIssuer();
        issuer.redirectAllowed = BASE + "/sign-in/callback";
        var secret = Files.writeString(directory.resolve("client.secret"), TestIssuer.SECRET + "\n");
        cay = TestServer.forPeople(
                directory,
                new PersonAccess.Settings(
                        URI.create(BASE),
                        new IssuerSettings(issuer.url(), TestIssuer.CLIENT, secret),
                        List.of("corp.example=default:read")));
        String team =
                cay.admin("GET", "/admin/teams", "").json().get(0).get("teamID").stringValue();
        assertThat(cay.admin("PUT", "/admin/teams/%s/members/ann@example.org".formatted(team), "{}")
                        .status())
                .isEqualTo(200);
    }

    @AfterEach
    void stop() {
        cay.close();
        issuer.close();
    }

    /// A browser on its way to the issuer.
    private record Sent(String address, Map<String, String> cookie) {}

    private Sent begin(String next) {
        var start = cay.request("GET", "/sign-in/start?next=" + next, Map.of());
        assertThat(start.status()).as(start.text()).isEqualTo(303);
        String cookie = Objects.requireNonNull(start.header("Set-Cookie"));
        assertThat(cookie).contains("HttpOnly").contains("SameSite=Lax");
        return new Sent(
                Objects.requireNonNull(start.header("Location")),
                Map.of("Cookie", cookie.substring(0, cookie.indexOf(';'))));
    }

    private TestServer.Answer complete(Sent sent) {
        return cay.request("GET", "/sign-in/callback?" + issuer.signIn(sent.address()), sent.cookie());
    }

    private static void assertSignedIn(TestServer.Answer answer) {
        assertThat(answer.header("Location")).isEqualTo("/docs/api/cli?next=http%3A%2F%2Flocalhost%3A4321");
        assertThat(answer.header("Set-Cookie")).startsWith("cay_session=");
    }

    private static String error(TestServer.Answer answer) {
        assertThat(answer.status()).as(answer.text()).isEqualTo(303);
        assertThat(String.valueOf(answer.header("Set-Cookie"))).doesNotContain("cay_session");
        String location = Objects.requireNonNull(answer.header("Location"));
        assertThat(location).startsWith(NEXT + "/?error=");
        return URLDecoder.decode(location.substring(location.indexOf('=') + 1), StandardCharsets.UTF_8);
    }

    @Test
    void aMemberSignsInAndGoesOnToTheProgramThatWaits() {
        assertThat(cay.request("GET", "/docs/api/cli?next=" + NEXT, Map.of()).text())
                .contains("Sign in with 127.0.0.1")
                .contains(BASE + "/sign-in/start?next=http%3A%2F%2Flocalhost%3A4321");
        var done = complete(begin(NEXT));
        assertSignedIn(done);
        String cookie = Objects.requireNonNull(done.header("Set-Cookie"));
        var page = cay.request(
                "GET", "/docs/api/cli?next=" + NEXT, Map.of("Cookie", cookie.substring(0, cookie.indexOf(';'))));
        assertThat(page.text()).contains("id=\"allow\"").contains("ann@example.org");
    }

    @Test
    void anAddressThatIsToldElsewhereCountsToo() {
        issuer.emailElsewhere = true;
        assertSignedIn(complete(begin(NEXT)));
    }

    @Test
    void thatAnAddressIsVerifiedMayBeToldElsewhere() {
        issuer.verifiedElsewhere = true;
        assertSignedIn(complete(begin(NEXT)));
        issuer.verified = false;
        assertThat(error(complete(begin(NEXT)))).contains("has not verified");
    }

    @Test
    void aSignedTextWithTheAddressIsRefusedWithTheReason() {
        issuer.emailElsewhere = true;
        issuer.toldSigned = true;
        assertThat(error(complete(begin(NEXT)))).contains("in a signed text");
    }

    @Test
    void anAddressThatLooksTheSameInLowerCaseIsAnother() {
        String team =
                cay.admin("GET", "/admin/teams", "").json().get(0).get("teamID").stringValue();
        cay.admin("PUT", "/admin/teams/%s/members/frank@example.org".formatted(team), "{}");
        issuer.email = "fran\u212A@example.org";
        assertThat(error(complete(begin(NEXT)))).contains("member of no team");
        issuer.email = "FRANK@Example.org";
        assertSignedIn(complete(begin(NEXT)));
    }

    @Test
    void anAddressThatIsNotVerifiedDoesNot() {
        issuer.verified = false;
        assertThat(error(complete(begin(NEXT)))).contains("has not verified");
        issuer.emailElsewhere = true;
        assertThat(error(complete(begin(NEXT)))).contains("has not verified");
    }

    @Test
    void strangersStayOutsideAndPeopleOfADomainComeIn() {
        issuer.email = "eve@evil.example";
        assertThat(error(complete(begin(NEXT)))).contains("member of no team");
        issuer.email = "eve@notcorp.example";
        assertThat(error(complete(begin(NEXT)))).contains("member of no team");
        issuer.email = "dan@corp.example";
        issuer.subject = "account-2";
        assertSignedIn(complete(begin(NEXT)));
        assertThat(cay.admin("GET", "/admin/people", "").text()).contains("dan@corp.example");
        String team =
                cay.admin("GET", "/admin/teams", "").json().get(0).get("teamID").stringValue();
        assertThat(cay.admin("GET", "/admin/teams/%s/members".formatted(team), "")
                        .text())
                .contains("read");
        cay.admin("DELETE", "/admin/people/dan@corp.example", "");
        assertThat(error(complete(begin(NEXT)))).as("removed by the operator").contains("member of no team");
    }

    @Test
    void whoIsRemovedFromATeamDoesNotComeBackByTheirDomain() {
        issuer.email = "dan@corp.example";
        assertSignedIn(complete(begin(NEXT)));
        String team =
                cay.admin("GET", "/admin/teams", "").json().get(0).get("teamID").stringValue();
        cay.admin("DELETE", "/admin/teams/%s/members/dan@corp.example".formatted(team), "");
        assertThat(error(complete(begin(NEXT)))).contains("member of no team");
    }

    @Test
    void anAddressThatWasGivenToAnotherAccountIsRefused() {
        assertSignedIn(complete(begin(NEXT)));
        issuer.subject = "account-9";
        assertThat(error(complete(begin(NEXT)))).contains("another account");
    }

    @Test
    void anotherBrowserCannotComplete() {
        var sent = begin(NEXT);
        String query = issuer.signIn(sent.address());
        assertThat(error(cay.request("GET", "/sign-in/callback?" + query, Map.of())))
                .contains("another browser");
        assertThat(error(cay.request(
                        "GET", "/sign-in/callback?" + query, begin(NEXT).cookie())))
                .contains("another browser");
    }

    @Test
    void aStateThatIsNotOursLeadsNowhere() {
        var sent = begin(NEXT);
        String query = issuer.signIn(sent.address());
        for (String state : List.of("x", "a.b.c.d.e", query.replaceAll(".*state=", "") + "x")) {
            var answer = cay.request("GET", "/sign-in/callback?code=c&state=" + state, sent.cookie());
            assertThat(answer.status()).isEqualTo(400);
            assertThat(answer.header("Location")).isNull();
        }
    }

    @Test
    void aCodeIsGoodOnceAndForTenMinutes() {
        var sent = begin(NEXT);
        String query = issuer.signIn(sent.address());
        assertSignedIn(cay.request("GET", "/sign-in/callback?" + query, sent.cookie()));
        assertThat(error(cay.request("GET", "/sign-in/callback?" + query, sent.cookie())))
                .contains("completed before");
        var late = begin(NEXT);
        cay.clock.pass(Duration.ofMinutes(10));
        assertThat(error(complete(late))).contains("took longer");
    }

    @ParameterizedTest
    @ValueSource(strings = {"none", "other", "hmac"})
    void anIdTokenThatTheIssuerDidNotSignIsRefused(String signature) {
        issuer.signature = signature;
        assertThat(error(complete(begin(NEXT)))).contains("is not good");
    }

    @Test
    void anIdTokenForSomethingElseIsRefused() {
        List<Function<JWTClaimsSet.Builder, JWTClaimsSet.Builder>> wrong = List.of(
                claims -> claims.issuer("http://127.0.0.1:1"),
                claims -> claims.audience("another client"),
                claims -> claims.audience(List.of("another client", TestIssuer.CLIENT))
                        .claim("azp", "another client"),
                claims -> claims.audience(List.of("another client", TestIssuer.CLIENT)),
                claims -> claims.claim("azp", "another client"),
                claims -> claims.claim("nonce", "another"),
                claims -> claims.claim("nonce", null),
                claims -> claims.expirationTime(Date.from(Instant.now().minusSeconds(600))),
                claims -> claims.expirationTime(null));
        for (var change : wrong) {
            issuer.claims = change;
            assertThat(error(complete(begin(NEXT)))).isNotEmpty();
        }
        issuer.claims = Function.identity();
        assertSignedIn(complete(begin(NEXT)));
    }

    @Test
    void anAnswerOfAnotherIssuerIsRefused() {
        var sent = begin(NEXT);
        String query = issuer.signIn(sent.address()) + "&iss=https%3A%2F%2Fevil.example";
        assertThat(error(cay.request("GET", "/sign-in/callback?" + query, sent.cookie())))
                .contains("another issuer");
    }

    @Test
    void theProgramHearsOfEveryFailure() {
        var sent = begin(NEXT);
        String state = issuer.signIn(sent.address()).replaceAll(".*state=", "");
        assertThat(error(cay.request("GET", "/sign-in/callback?error=access_denied&state=" + state, sent.cookie())))
                .contains("access_denied");
        var empty = begin(NEXT);
        String other = issuer.signIn(empty.address()).replaceAll(".*state=", "");
        assertThat(error(cay.request("GET", "/sign-in/callback?code=&state=" + other, empty.cookie())))
                .contains("no code");
        var last = begin(NEXT);
        String away = issuer.signIn(last.address()).replaceAll(".*state=", "");
        issuer.close();
        assertThat(error(cay.request("GET", "/sign-in/callback?code=c&state=" + away, last.cookie())))
                .contains("cannot be asked");
        cay.clock.pass(Duration.ofMinutes(6));
        assertThat(error(cay.request("GET", "/sign-in/start?next=" + NEXT, Map.of())))
                .contains("cannot be asked");
    }

    /// The clock stands still, so every browser here begins within the time in which an answer is good.
    @Test
    void theIssuerIsNotAskedForEachBrowser() {
        for (int i = 0; i < 20; i++) {
            begin(NEXT);
        }
        assertThat(issuer.asked("/.well-known/openid-configuration")).isEqualTo(1);
        assertSignedIn(complete(begin(NEXT)));
        assertSignedIn(complete(begin(NEXT)));
        assertThat(issuer.asked("/keys")).isEqualTo(1);
        cay.clock.pass(Duration.ofMinutes(6));
        begin(NEXT);
        assertThat(issuer.asked("/.well-known/openid-configuration")).isEqualTo(2);
    }

    @Test
    void aStateMakesTheIssuerGetOneCode() {
        var sent = begin(NEXT);
        String state = issuer.signIn(sent.address()).replaceAll(".*state=", "");
        assertThat(error(cay.request("GET", "/sign-in/callback?code=guessed&state=" + state, sent.cookie())))
                .contains("does not take the code");
        for (int i = 0; i < 5; i++) {
            assertThat(error(cay.request(
                            "GET", "/sign-in/callback?code=c%d&state=%s".formatted(i, state), sent.cookie())))
                    .contains("completed before");
        }
        assertThat(issuer.asked("/token")).isEqualTo(1);
    }

    @Test
    void anIssuerThatReplacesItsKeysIsBelievedAtOnce() throws Exception {
        assertSignedIn(complete(begin(NEXT)));
        cay.clock.pass(Duration.ofSeconds(11));
        issuer.replaceKey();
        assertSignedIn(complete(begin(NEXT)));
    }

    @Test
    void withoutAProgramABrowserGoesHome() {
        var sent = begin("http://evil.example");
        assertThat(complete(sent).header("Location")).isEqualTo("/sign-in");
    }

    @Test
    void theSecretIsNotInAnyAddress() {
        assertThat(begin(NEXT).address())
                .doesNotContain("s3cret")
                .contains("code_challenge=")
                .doesNotContain("verifier");
    }
}
