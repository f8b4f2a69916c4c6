package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.nimbusds.jose.crypto.ECDSAVerifier;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jwt.SignedJWT;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.Placeholders;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Teams keep secrets that nobody reads back.
abstract class SecretContract extends ServerTest {
    private static final String VALUE = "sk-live-3f9a7c";

    private TestServer.Answer make(String name) {
        var made = cay.call("POST", "/secrets", "{\"name\":\"%s\",\"value\":\"%s\"}".formatted(name, VALUE));
        assertThat(made.status()).as(made.text()).isEqualTo(201);
        return made;
    }

    @Test
    void aSecretIsMadeFoundByNameAndIdGetsAnotherValueAndGoes() {
        var made = cay.call(
                "POST",
                "/secrets",
                "{\"name\":\"OpenAI_key\",\"value\":\"%s\",\"metadata\":{\"a\":\"b\"}}".formatted(VALUE));
        assertThat(made.status()).as(made.text()).isEqualTo(201);
        String id = made.json().get("secretID").stringValue();
        assertThat(id).matches("sec_[a-z0-9]{20}");
        assertThat(made.json().get("name").stringValue()).isEqualTo("openai_key");
        assertThat(made.json().get("currentVersion").intValue()).isEqualTo(1);
        assertThat(cay.call("GET", "/secrets/" + id).text()).isEqualTo(made.text());
        assertThat(cay.call("GET", "/secrets/OPENAI_KEY").text()).isEqualTo(made.text());

        cay.clock.pass(Duration.ofSeconds(1));
        var kept = cay.call("POST", "/secrets/openai_key", "{\"value\":\"second\"}");
        assertThat(kept.status()).as(kept.text()).isEqualTo(200);
        assertThat(kept.json().get("currentVersion").intValue()).isEqualTo(2);
        assertThat(kept.json().get("metadata").get("a").stringValue()).isEqualTo("b");
        assertThat(kept.json().get("updatedAt")).isNotEqualTo(kept.json().get("createdAt"));
        var replaced = cay.call("POST", "/secrets/" + id, "{\"value\":\"third\",\"metadata\":{}}");
        assertThat(replaced.json().get("metadata").isEmpty()).isTrue();

        assertThat(cay.call("DELETE", "/secrets/openai_key").status()).isEqualTo(204);
        assertThat(cay.call("DELETE", "/secrets/openai_key").status()).isEqualTo(404);
        assertThat(cay.call("GET", "/secrets/" + id).status()).isEqualTo(404);
    }

    @Test
    void aNameIsGivenOnce() {
        make("key");
        var again = cay.call("POST", "/secrets", "{\"name\":\"KEY\",\"value\":\"x\"}");
        assertThat(again.status()).isEqualTo(409);
        assertThat(again.message()).contains("'key' already exists");
    }

    @Test
    void listsComeInPages() {
        var names = new TreeSet<String>();
        for (int i = 0; i < 5; i++) {
            make("key" + i);
            cay.clock.pass(Duration.ofMillis(1));
        }
        String next = "";
        do {
            var page = cay.call("GET", "/secrets?limit=2&nextToken=" + next);
            assertThat(page.json().size()).isLessThanOrEqualTo(2);
            page.json().forEach(secret -> names.add(secret.get("name").stringValue()));
            next = page.header("X-Next-Token");
        } while (next != null);
        assertThat(names).containsExactly("key0", "key1", "key2", "key3", "key4");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    {}                                                             | 'name'
                    {"name":"a b","value":"x"}                                     | 'name'
                    {"name":"sec_a","value":"x"}                                   | sec_
                    {"name":"a"}                                                   | 'value'
                    {"name":"a","value":""}                                        | 'value'
                    {"name":"a","value":7}                                         | 'value'
                    {"name":"a","value":"x","metadata":{"":"x"}}                   | 'metadata'
                    {"name":"a","value":"x","metadata":{"n":7}}                    | 'metadata.n'
                    {"name":"a","value":"x","metadata":{"cay.hosts":"http://a"}}   | 'metadata.cay.hosts'
                    """)
    void whatIsWrongIsNamed(String body, String field) {
        var refused = cay.call("POST", "/secrets", body);
        assertThat(refused.status()).isEqualTo(400);
        assertThat(refused.message()).contains(field);
    }

    @Test
    void limitsOfMetadataAndValuesAreNamed() {
        var large = cay.call("POST", "/secrets", "{\"name\":\"a\",\"value\":\"%s\"}".formatted("x".repeat(65537)));
        assertThat(large.message()).contains("'value' is larger than 65536 bytes");
        var entry = cay.call(
                "POST",
                "/secrets",
                "{\"name\":\"a\",\"value\":\"x\",\"metadata\":{\"b\":\"%s\"}}".formatted("x".repeat(1025)));
        assertThat(entry.message()).contains("'metadata.b' is larger than 1024 bytes");
    }

    @Test
    void noAnswerNoFileAndNoRecordHasTheValue() throws Exception {
        var made = make("key");
        cay.call("POST", "/secrets/key", "{\"value\":\"%s-2\"}".formatted(VALUE));
        assertThat(made.text()).doesNotContain(VALUE);
        assertThat(cay.call("GET", "/secrets").text()).doesNotContain(VALUE);
        TestServer.await(
                "the audit log",
                () -> cay.admin("GET", "/admin/audit?action=secret.update", "")
                                .json()
                                .size()
                        == 1);
        assertThat(cay.admin("GET", "/admin/audit", "").text()).doesNotContain(VALUE);
        try (var files = Files.walk(directory)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                assertThat(new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1))
                        .as(file.toString())
                        .doesNotContain(VALUE);
            }
        }
        try (var files = Files.walk(directory)) {
            var keys = files.filter(file -> file.endsWith("secrets.keys") || file.endsWith("identity.key"))
                    .toList();
            assertThat(keys).hasSize(2);
            for (Path file : keys) {
                assertThat(Files.getPosixFilePermissions(file))
                        .as(file.toString())
                        .isEqualTo(PosixFilePermissions.fromString("rw-------"));
                assertThat(Files.getAttribute(file, "unix:uid"))
                        .as("only the user that runs Cay owns it")
                        .isEqualTo(Files.getAttribute(directory, "unix:uid"));
            }
        }
    }

    @Test
    void aNarrowKeyDoesNotSeeSecrets() {
        make("key");
        for (String scope : new String[] {"read", "sandboxes", "templates"}) {
            var key = cay.call("POST", "/api-keys", "{\"name\":\"k\",\"scope\":\"%s\"}".formatted(scope));
            var refused = cay.request(
                    "GET", "/secrets", Map.of("X-API-Key", key.json().get("key").stringValue()));
            assertThat(refused.status()).as(scope).isEqualTo(403);
        }
    }

    private String sandboxThatNames(String key, int status) {
        var made = cay.request("POST", "/v2/sandboxes", Map.of("X-API-Key", key), """
                {"templateID":"base","iam":{"tokens":{"aws":{"audience":"sts","tokenType":"JWT-SVID"}}},
                 "network":{"rules":{"api.example.com":[{"transform":{"headers":{"A":"${e2b.secrets.Key}"}}}]}}}
                """);
        assertThat(made.status()).as(made.text()).isEqualTo(status);
        return status == 201 ? made.json().get("sandboxID").stringValue() : made.message();
    }

    private String value(String sandbox, String placeholder, String host) throws Placeholders.Unknown {
        return cay.node.placeholders.fill(placeholder, new SandboxId(sandbox), host, _ -> {});
    }

    @Test
    void theNodeGetsTheNewestValueForHostsOfTheSecretAlone() throws Exception {
        String id = sandboxThatNames(cay.key, 201);
        assertThatThrownBy(() -> value(id, "${e2b.secrets.key}", "api.example.com"))
                .isInstanceOf(Placeholders.Unknown.class);
        make("key");
        assertThat(value(id, "Bearer ${e2b.secrets.Key}", "api.example.com")).isEqualTo("Bearer " + VALUE);
        cay.call("POST", "/secrets/key", "{\"value\":\"newer\",\"metadata\":{\"cay.hosts\":\"*.Example.com\"}}");
        assertThat(value(id, "${e2b.secrets.key}", "api.example.com")).isEqualTo("newer");
        assertThatThrownBy(() -> value(id, "${e2b.secrets.key}", "example.org"))
                .isInstanceOf(Placeholders.Unknown.class);
        cay.call("DELETE", "/secrets/key");
        assertThatThrownBy(() -> value(id, "${e2b.secrets.key}", "api.example.com"))
                .isInstanceOf(Placeholders.Unknown.class);
    }

    /// Who may make a rule for a host of their own could read any secret there.
    @Test
    void aKeyForSandboxesUsesOnlySecretsThatAreBoundToHosts() {
        make("key");
        String narrow = cay.call("POST", "/api-keys", "{\"name\":\"k\",\"scope\":\"sandboxes\"}")
                .json()
                .get("key")
                .stringValue();
        assertThat(sandboxThatNames(narrow, 403)).contains("'key' is not", "cay.hosts");
        cay.call("POST", "/secrets/key", "{\"value\":\"v\",\"metadata\":{\"cay.hosts\":\"api.example.com\"}}");
        sandboxThatNames(narrow, 201);
    }

    /// Code in a sandbox reads what arrives at its ports, and a pattern like `*.DOMAIN` also matches the sandbox's own.
    @Test
    void aSandboxGetsAValueOnlyIfItIsAnotherOneThatTheRulesName() throws Exception {
        make("key");
        String other = port(cay.create());
        String target = port(cay.create());
        String third = cay.create();
        String id = cay.create("""
                {"templateID":"base","iam":{"tokens":{"aws":{"audience":"sts","tokenType":"JWT-SVID"}}},
                 "network":{"rules":{"*.cay.test":[{"transform":{"headers":{"A":"${e2b.secrets.key}"}}}],
                 "%s":[{"transform":{"headers":{"A":"${e2b.secrets.key}"}}}],
                 "*.example.com":[{"transform":{"redirect":"%s:8443"}}]}}}""".formatted(other, target)).get("sandboxID").stringValue();
        cay.call(
                "PUT",
                "/sandboxes/%s/network".formatted(third),
                "{\"rules\":{\"%s\":[{\"transform\":{\"headers\":{\"A\":\"${e2b.secrets.key}\"}}}]}}"
                        .formatted(port(third)));
        for (String placeholder : new String[] {"${e2b.secrets.key}", "${e2b.identity.tokens.aws}"}) {
            for (String host : new String[] {
                port(id),
                port(third),
                "8080-%s-client.cay.test".formatted(id),
                "8080-%s.example.org".formatted(id),
                "8080-i00000000000000000000.cay.test",
                "api.cay.test",
                "cay.test",
                "broken.cay.test"
            }) {
                assertThatThrownBy(() -> value(id, placeholder, host))
                        .as("%s to %s", placeholder, host)
                        .isInstanceOf(Placeholders.Unknown.class);
            }
            for (String host :
                    new String[] {other, target, "api.example.com", "8080-i00000000000000000000.example.org"}) {
                assertThat(value(id, placeholder, host))
                        .as("the control: " + host)
                        .isNotEmpty();
            }
        }
        assertThatThrownBy(() -> value(third, "${e2b.secrets.key}", port(third)))
                .as("the sandbox itself, by its very name")
                .isInstanceOf(Placeholders.Unknown.class);
    }

    private static String port(String sandbox) {
        return "8080-%s.cay.test".formatted(sandbox);
    }

    /// A name that nothing here knows can lead to the edge, where headers say which sandbox is meant.
    @Test
    void aRequestThatCarriesAValueEndsInNoSandbox() {
        String id = cay.create();
        var sandbox = cay.json(cay.call("GET", "/sandboxes/" + id).text());
        String mark = cay.node.placeholders.mark("alias.example.com").orElseThrow();
        assertThat(cay.node.placeholders.mark(port(id))).as("the rules name it").isEmpty();
        for (var way : List.of(
                Map.of("Host", port(id)),
                Map.of("Host", "alias.example.com", "E2b-Sandbox-Id", id, "E2b-Sandbox-Port", "8080"),
                Map.of("Host", "api.cay.test", "E2b-Sandbox-Id", id, "E2b-Sandbox-Port", "49983"),
                Map.of("X-Access-Token", sandbox.get("envdAccessToken").stringValue()))) {
            var marked = new HashMap<>(way);
            marked.put(Placeholders.MARK, "other;a=b, " + mark);
            int before = cay.reached.get();
            var refused = cay.request("GET", "/", marked);
            assertThat(refused.status()).as(way.toString()).isEqualTo(403);
            assertThat(refused.message()).contains("carries a secret");
            assertThat(cay.reached.get()).isEqualTo(before);
            marked.put(Placeholders.MARK, "other");
            assertThat(cay.request("GET", "/", marked).status())
                    .as("the control: " + way)
                    .isEqualTo(200);
        }
        assertThat(cay.call("GET", "/sandboxes/" + id, "", Placeholders.MARK, mark)
                        .status())
                .as("the API may be called with a key that is a secret")
                .isEqualTo(200);
    }

    @Test
    void rulesOfAKeyForSandboxesNeverSendASecretThatIsNotBound() throws Exception {
        String narrow = cay.call("POST", "/api-keys", "{\"name\":\"k\",\"scope\":\"sandboxes\"}")
                .json()
                .get("key")
                .stringValue();
        String early = sandboxThatNames(narrow, 201);
        String full = sandboxThatNames(cay.key, 201);
        make("key");
        assertThat(value(full, "${e2b.secrets.key}", "api.example.com")).isEqualTo(VALUE);
        assertThatThrownBy(() -> value(early, "${e2b.secrets.key}", "api.example.com"))
                .as("named before it was there")
                .isInstanceOf(Placeholders.Unknown.class);
        restart();
        assertThatThrownBy(() -> value(early, "${e2b.secrets.key}", "api.example.com"))
                .as("after a restart")
                .isInstanceOf(Placeholders.Unknown.class);

        cay.call("POST", "/secrets/key", "{\"value\":\"v\",\"metadata\":{\"cay.hosts\":\"api.example.com\"}}");
        assertThat(value(early, "${e2b.secrets.key}", "api.example.com")).isEqualTo("v");
        cay.call("POST", "/secrets/key", "{\"value\":\"w\",\"metadata\":{}}");
        assertThatThrownBy(() -> value(early, "${e2b.secrets.key}", "api.example.com"))
                .as("it is not bound any more")
                .isInstanceOf(Placeholders.Unknown.class);
    }

    @Test
    void anIdentityTokenSaysWhichSandboxItIsAndCanBeChecked() throws Exception {
        String id = sandboxThatNames(cay.key, 201);
        var token = SignedJWT.parse(value(id, "${e2b.identity.tokens.aws}", "api.example.com"));
        var keys = JWKSet.parse(
                cay.request("GET", "/.well-known/jwks.json", Map.of()).text());
        var key = keys.getKeyByKeyId(token.getHeader().getKeyID()).toECKey();
        assertThat(key.isPrivate()).isFalse();
        assertThat(token.verify(new ECDSAVerifier(key))).isTrue();
        var claims = token.getJWTClaimsSet();
        assertThat(claims.getAudience()).containsExactly("sts");
        assertThat(claims.getSubject()).endsWith("/sandbox/" + id).startsWith("spiffe://cay.test/team/");
        assertThat(Duration.between(
                        claims.getIssueTime().toInstant(),
                        claims.getExpirationTime().toInstant()))
                .isEqualTo(Duration.ofMinutes(5));
        var configuration = cay.request("GET", "/.well-known/openid-configuration", Map.of())
                .json();
        assertThat(configuration.get("issuer").stringValue()).isEqualTo(claims.getIssuer());
        assertThatThrownBy(() -> value(id, "${e2b.identity.tokens.other}", "api.example.com"))
                .isInstanceOf(Placeholders.Unknown.class);
        restart();
        var later = SignedJWT.parse(value(id, "${e2b.identity.tokens.aws}", "api.example.com"));
        assertThat(later.verify(new ECDSAVerifier(key))).as("after a restart").isTrue();
    }

    private JWKSet published() throws Exception {
        return JWKSet.parse(
                cay.request("GET", "/.well-known/jwks.json", Map.of()).text());
    }

    private static boolean isGood(SignedJWT token, JWKSet keys) throws Exception {
        var key = keys.getKeyByKeyId(token.getHeader().getKeyID());
        return key != null && token.verify(new ECDSAVerifier(key.toECKey()));
    }

    @Test
    void theOperatorRotatesTheKeyOfIdentityTokensAndTokensOfBeforeStayGood() throws Exception {
        String id = sandboxThatNames(cay.key, 201);
        var before = SignedJWT.parse(value(id, "${e2b.identity.tokens.aws}", "api.example.com"));
        assertThat(cay.call("POST", "/admin/identity/rotate").status()).isEqualTo(401);
        var rotated = cay.admin("POST", "/admin/identity/rotate", "");
        assertThat(rotated.status()).as(rotated.text()).isEqualTo(200);

        var after = SignedJWT.parse(value(id, "${e2b.identity.tokens.aws}", "api.example.com"));
        assertThat(after.getHeader().getKeyID())
                .isEqualTo(rotated.json().get("keyID").stringValue())
                .isNotEqualTo(before.getHeader().getKeyID());
        restart();
        assertThat(published().getKeys()).hasSize(2).noneMatch(JWK::isPrivate);
        assertThat(isGood(before, published())).isTrue();
        assertThat(isGood(after, published())).isTrue();
        cay.clock.pass(Duration.ofMinutes(11));
        assertThat(published().getKeys()).as("its tokens are over").hasSize(1);
        assertThat(isGood(after, published())).isTrue();
        TestServer.await(
                "the audit log",
                () -> cay.admin("GET", "/admin/audit?action=identity.rotate", "")
                                .json()
                                .size()
                        == 2);
    }

    @Test
    void theOperatorRotatesTheSealingKey() throws Exception {
        make("one");
        make("two");
        var rotated = cay.admin("POST", "/admin/secrets/rotate", "");
        assertThat(rotated.status()).as(rotated.text()).isEqualTo(200);
        assertThat(rotated.json().get("secrets").intValue()).isEqualTo(2);
        assertThat(cay.call("POST", "/admin/secrets/rotate").status()).isEqualTo(401);
        restart();
        assertThat(cay.call("GET", "/secrets/one").json().get("currentVersion").intValue())
                .isEqualTo(1);
    }
}
