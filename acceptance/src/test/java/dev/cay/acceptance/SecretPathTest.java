package dev.cay.acceptance;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.platform.OwnCay;
import dev.cay.sdk.Cay;
import dev.cay.sdk.Command;
import dev.cay.sdk.EgressRules;
import dev.cay.sdk.NewSandbox;
import dev.cay.sdk.Sandbox;
import dev.cay.sdk.Secrets;
import dev.cay.sdk.Settings;
import dev.cay.testing.NeedsRoot;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Base64;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Secrets that real sandboxes send to a real service: it gets them, and root inside finds them nowhere.
@NeedsRoot
@Timeout(600)
final class SecretPathTest {
    private static final Duration LIMIT = Duration.ofMinutes(3);
    private static final String FILLED = "Bearer ${e2b.secrets.%s}";

    /// Notes what it gets in a file, and repeats it.
    private static final String ECHO = """
            import http.server
            class H(http.server.BaseHTTPRequestHandler):
                def do_GET(self):
                    body = str(self.headers).encode()
                    open('/tmp/got', 'ab').write(body)
                    self.send_response(200); self.send_header('Content-Length', str(len(body))); self.end_headers()
                    self.wfile.write(body)
            http.server.ThreadingHTTPServer(('0.0.0.0', 8080), H).serve_forever()
            """;

    /// Root inside has no right to see packets; what programs get is all it sees.
    private static final String CAPTURE = "import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 768)";

    /// Asks both services and keeps all that they said in memory.
    private static final String ASK = """
            import subprocess, sys, time
            kept = [subprocess.run(['curl', '-sSv', '-H', 'X-Planted: ' + sys.argv[1], '--retry', '20', '--retry-all-errors', url], capture_output=True)
                    for url in sys.argv[2:]]
            with open('/tmp/answers', 'wb') as out:
                for one in kept:
                    out.write(one.stdout + one.stderr)
            time.sleep(100_000)
            """;

    /// Opens a WebSocket, and prints the head of the answer and four messages.
    private static final String SOCKET = """
            import socket, ssl, sys
            for attempt in range(20):
                try:
                    s = ssl.create_default_context().wrap_socket(
                        socket.create_connection((sys.argv[1], 443), 10), server_hostname=sys.argv[1])
                    break
                except OSError as e:
                    failure = e
            s.settimeout(20)
            s.sendall(('GET /socket HTTP/1.1\\r\\nHost: %s\\r\\nConnection: Upgrade\\r\\nUpgrade: websocket\\r\\n'
                       'Sec-WebSocket-Version: 13\\r\\nSec-WebSocket-Key: eDExMjIzMzQ0NTU2Njc3OA==\\r\\n'
                       'Sec-WebSocket-Extensions: permessage-deflate\\r\\n\\r\\n' % sys.argv[1]).encode())
            f = s.makefile('rb')
            while (line := f.readline().decode().strip()):
                print(line)
            messages, message = 0, ''
            while messages < 4:
                first, length = f.read(2)
                content = f.read(length).decode()
                if first & 8:
                    print('ping', content)
                    continue
                message += content
                if first & 0x80:
                    print('message', message)
                    messages, message = messages + 1, ''
            """;

    private static SecretService service;
    private static Cay cay;

    @BeforeAll
    static void start() throws Exception {
        service = new SecretService();
        cay = Cay.with(Settings.from(service.cay().environment(OwnCay.Mode.DOMAIN)));
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
        return result.stdout() + result.stderr();
    }

    private static void await(Sandbox sandbox, String condition) {
        assertThat(root(
                        sandbox,
                        "for i in $(seq 600); do if %s; then echo done; exit; fi; sleep 0.1; done"
                                .formatted(condition)))
                .as(condition)
                .contains("done");
    }

    private static void start(Sandbox sandbox, Command command) {
        sandbox.commands().start(command.as("root").withoutLimit());
    }

    /// The scan looks for a value of a random beginning that all share, and for its form in base64.
    @Test
    void rootInsideFindsNothingOfASecretAndFindsWhatWasPlanted() throws Exception {
        var values = values("secret", "file", "encoded", "environment", "memory", "traffic");
        cay.secrets().create("scanned", values.get("secret"));
        try (var other = cay.create(NewSandbox.usual())) {
            start(other, Command.of("exec python3 -c \"$ECHO\"").with("ECHO", ECHO));
            String edge = other.host(8080).replaceAll(":.*", "");
            var rules = EgressRules.everything()
                    .withHeader(SecretService.HOST, "Authorization", FILLED.formatted("scanned"))
                    .withHeader(edge, "Authorization", FILLED.formatted("scanned"));
            var wish = NewSandbox.usual().withEgress(rules).withEnv("PLANTED", values.get("environment"));
            try (var agent = cay.create(wish)) {
                plant(agent, values);
                start(
                        agent,
                        Command.of("exec python3 -c \"$ASK\" %s https://%s/ https://%s/"
                                        .formatted(values.get("traffic"), SecretService.HOST, other.host(8080)))
                                .with("ASK", ASK));
                await(agent, "test -s /tmp/answers");

                assertThat(service.got()).as(root(agent, "cat /tmp/answers")).contains(values.get("secret"));
                assertThat(root(other, "cat /tmp/got")).as("the other sandbox").contains(values.get("secret"));
                assertThat(root(agent, "cat /tmp/answers"))
                        .as("both answers repeat it")
                        .contains("\"authorization\": \"Bearer ****", "Authorization: Bearer ****");
                var found = scan(agent, values);
                assertThat(found).noneMatch(line -> line.startsWith("secret "));
                assertThat(found)
                        .as("what was planted")
                        .contains("file /etc/planted", "encoded /var/tmp/planted", "traffic /tmp/answers")
                        .anyMatch(line -> line.matches("environment /proc/\\d+/environ"))
                        .anyMatch(line -> line.matches("memory /proc/\\d+/mem"));
                assertThat(found.getLast()).matches("looked at \\d{4,} files \\d+ processes \\d{7,} memory");
            }
        } finally {
            cay.secrets().delete("scanned");
        }
    }

    /// What a program inside holds is a placeholder, and a service for which a rule says so gets the value.
    @Test
    void placeholdersOfTheSandboxBecomeValuesWhereTheRuleSaysSo() throws Exception {
        String value = values("held").get("held") + " &+";
        cay.secrets().create("held", value, Map.of(Secrets.HOSTS, SecretService.HOST));
        cay.secrets().create("unnamed", "not-in-the-rule");
        var rules = EgressRules.everything()
                .filling(SecretService.HOST, EnumSet.allOf(EgressRules.Part.class), "Held")
                .filling(SecretService.OTHER, EnumSet.allOf(EgressRules.Part.class), "held");
        var wish = NewSandbox.usual().withEgress(rules).withEnv("KEY", Secrets.placeholder("held"));
        try (var agent = cay.create(wish)) {
            String host = "https://" + SecretService.HOST;
            assertThat(root(agent, "echo $KEY")).isEqualTo("${e2b.secrets.held}\n");
            var told = new StringBuilder();
            told.append(root(
                    agent,
                    "curl -sS --retry 20 --retry-all-errors -i -u \"me:$KEY\" -H \"X-Key: <$KEY>\" -H 'X-Other: ${e2b.secrets.unnamed}' -G --data-urlencode \"k=$KEY\" %s/head"
                            .formatted(host)));
            told.append(root(
                    agent,
                    "curl -sS -i -H 'Content-Type: application/json' -d \"{\\\"k\\\":\\\"$KEY\\\"}\" %s/json"
                            .formatted(host)));
            told.append(root(
                    agent,
                    "curl -sS -i --http1.1 -H 'Transfer-Encoding: chunked' --data-urlencode \"k=$KEY\" %s/chunked"
                            .formatted(host)));
            root(
                    agent,
                    "echo \"$KEY\" | gzip | curl -sS --data-binary @- -H 'Content-Encoding: gzip' %s/gzip"
                            .formatted(host));
            root(
                    agent,
                    "(head -c 1200000 /dev/zero | tr '\\0' x; echo \"$KEY\") | curl -sS -o /dev/null --data-binary @- %s/large"
                            .formatted(host));
            root(
                    agent,
                    "(head -c 1200000 /dev/zero | tr '\\0' x; echo \"$KEY\") | curl -sS -o /dev/null --http1.1 -H 'Transfer-Encoding: chunked' -H 'Expect: 100-continue' --data-binary @- %s/long"
                            .formatted(host));

            var got = service.requests();
            String form = URLEncoder.encode(value, UTF_8).replace("+", "%20");
            var head = got.get("/head");
            assertThat(head.target()).isEqualTo("/head?k=" + form);
            assertThat(head.headers())
                    .containsEntry("x-key", "<%s>".formatted(value))
                    .containsEntry("x-other", "${e2b.secrets.unnamed}")
                    .containsEntry("authorization", "Basic " + base64("me:" + value));
            assertThat(got.get("/json").body()).isEqualTo("{\"k\":\"%s\"}".formatted(value));
            assertThat(got.get("/json").headers())
                    .containsEntry(
                            "content-length",
                            Integer.toString(got.get("/json").body().length()));
            assertThat(got.get("/chunked").body()).isEqualTo("k=" + form);
            assertThat(got.get("/chunked").headers()).doesNotContainKey("transfer-encoding");
            assertThat(got.get("/gzip").body()).as("as it was sent").startsWith("\u001f\u008b");
            assertThat(got.get("/large").body())
                    .endsWith("x${e2b.secrets.held}\n")
                    .hasSize(1_200_020);
            assertThat(got.get("/long").body())
                    .endsWith("x${e2b.secrets.held}\n")
                    .hasSize(1_200_020);
            assertThat(told.toString())
                    .as("what the service repeats")
                    .contains("/head?k=***", "<***", "Basic ***", "***")
                    .doesNotContain(value, form, base64("me:" + value));
        } finally {
            cay.secrets().delete("held");
            cay.secrets().delete("unnamed");
        }
    }

    /// A name that the rules match can lead to this Cay's edge, and headers there to the sandbox itself.
    @Test
    void aSecretComesBackToTheSandboxByNoName() throws Exception {
        String value = values("returned").get("returned");
        cay.secrets().create("returned", value);
        var rules = EgressRules.everything().withHeader("*.service.test", "X-Key", "${e2b.secrets.returned}");
        try (var agent = cay.create(NewSandbox.usual().withEgress(rules));
                var plain = cay.create(NewSandbox.usual()
                        .withEgress(EgressRules.everything().withHeader("*.service.test", "X-Key", "plain")))) {
            for (var sandbox : List.of(agent, plain)) {
                start(sandbox, Command.of("exec python3 -c \"$ECHO\"").with("ECHO", ECHO));
                await(sandbox, "ss -Htln sport = :8080 | grep -q 8080");
            }
            String ask =
                    "curl -sS -w '%%{http_code}' --retry 5 --retry-connrefused -H 'E2b-Sandbox-Id: %s' -H 'E2b-Sandbox-Port: %d' https://%s/";
            String file =
                    "curl -sS -w '%%{http_code}' -X POST -H 'E2b-Sandbox-Id: %s' -H 'E2b-Sandbox-Port: 49983' -H 'X-Access-Token: %s' -F 'file=@/etc/hostname' 'https://%s/files?path=/tmp/by-front'";
            assertThat(root(agent, ask.formatted(agent.id(), 8080, SecretService.FRONT)))
                    .contains("carries a secret")
                    .endsWith("403");
            assertThat(root(agent, ask.formatted(plain.id(), 8080, SecretService.FRONT)))
                    .as("nor to another one")
                    .endsWith("403");
            assertThat(root(agent, file.formatted(agent.id(), "any", SecretService.FRONT)))
                    .endsWith("403");
            assertThat(root(agent, "cat /tmp/got /tmp/by-front 2>&1")).doesNotContain(value);
            assertThat(root(plain, "cat /tmp/got 2>&1")).doesNotContain(value);

            assertThat(root(plain, ask.formatted(plain.id(), 8080, SecretService.FRONT)))
                    .as("the control: the way is open")
                    .contains("X-Key: plain")
                    .endsWith("200");
            root(agent, "curl -sS https://%s/".formatted(SecretService.HOST));
            assertThat(service.got()).as("and the service gets the secret").contains(value);
        } finally {
            cay.secrets().delete("returned");
        }
    }

    @Test
    void aPlaceholderForAnotherHostStaysOne() throws Exception {
        String value = values("bound").get("bound");
        cay.secrets().create("bound", value, Map.of(Secrets.HOSTS, SecretService.HOST));
        var rules =
                EgressRules.everything().filling(SecretService.HOST, "bound").filling(SecretService.OTHER, "bound");
        try (var agent =
                cay.create(NewSandbox.usual().withEgress(rules).withEnv("KEY", Secrets.placeholder("bound")))) {
            String ask = "curl -sSk --retry 20 --retry-all-errors -H \"X-Key: $KEY\" -d \"$KEY\" https://%s/%s?k=x";
            root(agent, ask.formatted(SecretService.HOST, "bound"));
            root(agent, ask.formatted(SecretService.OTHER, "not-bound"));
            root(agent, ask.formatted("third.service.test", "no-rule"));
            var got = service.requests();
            assertThat(got.get("/bound").headers()).as("the control").containsEntry("x-key", value);
            assertThat(got.get("/bound").body()).as("the rule is for headers").isEqualTo("${e2b.secrets.bound}");
            assertThat(got.get("/not-bound").headers()).containsEntry("x-key", "${e2b.secrets.bound}");
            assertThat(got.get("/no-rule").headers()).containsEntry("x-key", "${e2b.secrets.bound}");
        } finally {
            cay.secrets().delete("bound");
        }
    }

    @Test
    void messagesOfAWebSocketDoNotRepeatASecret() throws Exception {
        String value = values("spoken").get("spoken");
        cay.secrets().create("spoken", value);
        var rules = EgressRules.everything()
                .withHeader(SecretService.HOST, "Authorization", FILLED.formatted("spoken"))
                .withHeader(SecretService.OTHER, "Authorization", "Bearer plain-value");
        try (var agent = cay.create(NewSandbox.usual().withEgress(rules))) {
            agent.files().write("/tmp/listen.py", SOCKET);
            String heard = root(agent, "python3 /tmp/listen.py " + SecretService.HOST);
            String stars = "*".repeat(value.length());
            assertThat(service.got()).as(heard).contains("{\"socket\": \"Bearer %s\"}".formatted(value));
            assertThat(heard)
                    .doesNotContain(value)
                    .contains(
                            "X-Repeated: Bearer " + stars,
                            "message Bearer %s\nping ping\nmessage Bearer %s".formatted(stars, stars))
                    .contains("message offered none")
                    .as("the end of a message is not held back")
                    .contains("message Bearer " + value.substring(0, value.length() - 1) + "\n");
            assertThat(root(agent, "python3 /tmp/listen.py " + SecretService.OTHER))
                    .as("without a secret nothing is changed")
                    .contains("message Bearer plain-value\nping ping\nmessage Bearer plain-value")
                    .contains("message offered permessage-deflate");
        } finally {
            cay.secrets().delete("spoken");
        }
    }

    private static String base64(String text) {
        return Base64.getEncoder().encodeToString(text.getBytes(UTF_8));
    }

    /// One kind of value in every kind of place that is looked at.
    private static void plant(Sandbox agent, Map<String, String> values) {
        root(agent, "printf %s > /etc/planted".formatted(values.get("file")));
        root(agent, "printf 'user:%s' | base64 -w0 > /var/tmp/planted".formatted(values.get("encoded")));
        start(agent, Command.of("exec sleep 100000"));
        String turned = new StringBuilder(values.get("memory")).reverse().toString();
        start(
                agent,
                Command.of(
                        "exec python3 -c 'import sys, time; kept = sys.argv[1][::-1]; time.sleep(100_000)' " + turned));
        assertThat(root(agent, "python3 -c '%s' 2>&1; true".formatted(CAPTURE)))
                .contains("Address family not supported");
    }

    private static List<String> scan(Sandbox agent, Map<String, String> values) throws IOException {
        agent.files().write("/tmp/scan.py", Files.readString(Path.of("src/test/js/secret-scan.py")));
        var command = new StringBuilder("nice python3 /tmp/scan.py");
        values.forEach((name, value) -> {
            byte[] bytes = value.getBytes(US_ASCII);
            for (int i = 0; i < bytes.length; i++) {
                bytes[i] ^= (byte) 0xff;
            }
            command.append(" %s=%s".formatted(name, HexFormat.of().formatHex(bytes)));
        });
        return root(agent, command.toString()).lines().toList();
    }

    private static Map<String, String> values(String... names) {
        var random = new SecureRandom();
        String beginning = "sk-" + HexFormat.of().formatHex(random.generateSeed(8));
        var values = new LinkedHashMap<String, String>();
        for (String name : names) {
            values.put(name, beginning + HexFormat.of().formatHex(random.generateSeed(12)));
        }
        return values;
    }
}
