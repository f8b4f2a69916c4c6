package dev.cay.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.platform.OwnCay;
import dev.cay.sdk.Cay;
import dev.cay.sdk.Command;
import dev.cay.sdk.EgressRules;
import dev.cay.sdk.NewSandbox;
import dev.cay.sdk.Sandbox;
import dev.cay.sdk.Settings;
import dev.cay.testing.NeedsRoot;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// A Cay under a domain that is not `localhost`, so that names inside are looked up like any: sandboxes connect by
/// name to a service outside and to each other, and the node reads and changes their requests. Programs inside verify
/// all certificates.
@NeedsRoot
@Timeout(600)
final class RealDomainTest {
    private static final String DOMAIN = "boxes.example.test";
    private static final Duration LIMIT = Duration.ofMinutes(3);
    private static final String SECRET = "sk-0123456789-abcdef-0123456789";
    private static final String STARS = "*".repeat(SECRET.length());
    private static final String BEARER = "Bearer ${e2b.secrets.key}";
    private static final int LARGE = 16 << 20;

    /// Repeats what it gets, of any length.
    private static final String ECHO = """
            import hashlib, http.server
            class H(http.server.BaseHTTPRequestHandler):
                protocol_version = 'HTTP/1.1'
                def do_POST(self):
                    digest, length, left = hashlib.sha256(), int(self.headers['Content-Length']), int(self.headers['Content-Length'])
                    while left:
                        piece = self.rfile.read(min(left, 1 << 20)); digest.update(piece); left -= len(piece)
                    open('/tmp/got', 'w').write(self.headers.get('Authorization', '-') + ' ' + digest.hexdigest())
                    word = self.headers.get('Authorization', '-').encode() + b' '
                    body = (word * (1 + length // len(word)))[:length]
                    self.send_response(200); self.send_header('Content-Length', str(length)); self.end_headers()
                    self.wfile.write(body)
            http.server.ThreadingHTTPServer(('0.0.0.0', 8080), H).serve_forever()
            """;

    private static SecretService service;
    private static Cay cay;

    @BeforeAll
    static void start() throws Exception {
        service = new SecretService(Map.of("http.domain", DOMAIN));
        cay = Cay.with(Settings.from(service.cay().environment(OwnCay.Mode.URL)));
        cay.secrets().create("key", SECRET);
    }

    @AfterAll
    static void end() {
        if (cay != null) {
            cay.close();
        }
        if (service != null) {
            service.close();
        }
    }

    private static String root(Sandbox sandbox, String command) {
        var result = sandbox.commands().run(Command.of(command).as("root").within(LIMIT));
        return (result.stdout() + result.stderr()).strip();
    }

    private static String edge(Sandbox sandbox) {
        return "8080-%s.%s".formatted(sandbox.id(), DOMAIN);
    }

    /// Sends a large body and prints status and version, its digest, how long the answer is, how often it has
    /// stars, and how often the secret.
    private static String large(Sandbox agent, String version, String url) {
        agent.files().write("/tmp/secret", SECRET);
        return root(
                agent,
                "head -c %d /dev/urandom > /tmp/sent; curl -sS %s -w '%%{http_code} %%{http_version}\\n' --retry 20 --retry-connrefused -o /tmp/answer --data-binary @/tmp/sent %s; sha256sum < /tmp/sent; stat -c %%s /tmp/answer; grep -o -F '%s' /tmp/answer | wc -l; grep -c -F -f /tmp/secret /tmp/answer"
                        .formatted(LARGE, version, url, "Bearer " + STARS + " "));
    }

    private static int repeats() {
        return LARGE / ("Bearer " + SECRET + " ").length();
    }

    @Test
    void aServiceOutsideGetsTheSecretAndTheSandboxDoesNot() throws Exception {
        var rules = EgressRules.everything()
                .withHeader(SecretService.HOST, "Authorization", BEARER)
                .withHeader(SecretService.OTHER, "X-Plain", "plain-value");
        try (var agent = cay.create(NewSandbox.usual().withEgress(rules))) {
            for (var version : Map.of("--http1.1", "1.1", "--http2", "2").entrySet()) {
                String path = "/by" + version.getValue();
                String said = root(
                        agent,
                        "curl -sS %s -i --retry 20 --retry-connrefused https://%s%s"
                                .formatted(version.getKey(), SecretService.HOST, path));
                assertThat(said)
                        .startsWith("HTTP/" + version.getValue() + " 200")
                        .contains("\"authorization\": \"Bearer " + STARS)
                        .containsIgnoringCase("x-repeated: Bearer " + STARS)
                        .doesNotContain(SECRET);
                assertThat(service.requests().get(path).headers()).containsEntry("authorization", "Bearer " + SECRET);

                var lines = large(agent, version.getKey(), "https://" + SecretService.HOST + "/repeat")
                        .lines()
                        .toList();
                assertThat(lines.getFirst()).isEqualTo("200 " + version.getValue());
                assertThat(service.got())
                        .contains("{\"large\": %d, \"digest\": \"%s\"}"
                                .formatted(LARGE, lines.get(1).replaceAll(" .*", "")));
                assertThat(lines.subList(2, 5))
                        .containsExactly(Integer.toString(LARGE), Integer.toString(repeats()), "0");
            }
            assertThat(root(agent, "curl -sS https://%s/plain".formatted(SecretService.OTHER)))
                    .as("what is no secret is told")
                    .contains("\"x-plain\": \"plain-value\"");
        }
    }

    /// The client inside sees a certificate of the node, so the node has to look at the server's.
    @Test
    void aServerWithAWrongCertificateGetsNothing() throws Exception {
        var rules = EgressRules.everything()
                .withHeader(SecretService.WRONG, "Authorization", BEARER)
                .withHeader(SecretService.ELSEWHERE, "Authorization", BEARER)
                .withHeader(SecretService.HOST, "Authorization", BEARER);
        try (var agent = cay.create(NewSandbox.usual().withEgress(rules))) {
            String ask = "curl -sS -k -w ' %%{http_code}' https://%s/%s";
            assertThat(root(agent, ask.formatted(SecretService.HOST, "control")))
                    .endsWith(" 200");
            for (String host : new String[] {SecretService.WRONG, SecretService.ELSEWHERE}) {
                assertThat(root(agent, ask.formatted(host, "never")))
                        .contains("certificate")
                        .endsWith(" 502");
            }
            assertThat(service.got()).contains("/control").doesNotContain("/never");
        }
        try (var plain = cay.create(NewSandbox.usual())) {
            String ask = "curl -sS -w ' %%{http_code}' --retry 5 --retry-connrefused https://%s/seen";
            assertThat(root(plain, ask.formatted(SecretService.WRONG)))
                    .as("without rules the client inside looks at it")
                    .startsWith("000")
                    .contains("certificate");
        }
    }

    @Test
    void anotherSandboxIsReachedByItsNameOverTheEdgeInside() throws Exception {
        try (var other = cay.create(NewSandbox.usual())) {
            other.commands()
                    .start(Command.of("exec python3 -c \"$ECHO\"")
                            .with("ECHO", ECHO)
                            .as("root")
                            .withoutLimit());
            var rules = EgressRules.everything().withHeader(edge(other), "Authorization", BEARER);
            try (var agent = cay.create(NewSandbox.usual().withEgress(rules))) {
                assertThat(root(agent, "getent ahostsv4 %s | wc -l".formatted(edge(other))))
                        .isNotEqualTo("0");
                String url =
                        "https://%s:%d/".formatted(edge(other), service.cay().tlsPort());
                for (var version : Map.of("--http1.1", "1.1", "--http2", "2").entrySet()) {
                    root(
                            other,
                            "rm -f /tmp/got; for i in $(seq 600); do ss -Htln sport = :8080 | grep -q 8080 && break; sleep 0.1; done");
                    var lines = large(agent, version.getKey(), url).lines().toList();
                    assertThat(lines.getFirst()).as(lines.toString()).isEqualTo("200 " + version.getValue());
                    assertThat(root(other, "cat /tmp/got"))
                            .isEqualTo("Bearer " + SECRET + " " + lines.get(1).replaceAll(" .*", ""));
                    assertThat(lines.subList(2, 5))
                            .containsExactly(Integer.toString(LARGE), Integer.toString(repeats()), "0");
                }
            }
        }
    }
}
