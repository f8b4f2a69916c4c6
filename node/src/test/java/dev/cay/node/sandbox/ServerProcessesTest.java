package dev.cay.node.sandbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.mcp.protocol.Message;
import dev.cay.node.mcp.catalog.LaunchPlan;
import dev.cay.node.mcp.server.ServerLink;
import dev.cay.testing.Await;
import dev.cay.testing.NeedsRoot;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/// What servers do, and what comes of it.
@NeedsRoot
class ServerProcessesTest extends ServerHomeTest {
    /// Answers each request with its own params and how many it has seen.
    private static final String ECHO = """
            let seen = 0, rest = '';
            process.stdin.on('data', data => {
              const lines = (rest + data).split('\\n');
              rest = lines.pop();
              for (const line of lines) {
                const {id, params} = JSON.parse(line);
                console.log(JSON.stringify({jsonrpc: '2.0', id, result: {seen: ++seen, params}}));
              }
            });
            """;

    private static final String SECRET = "s3cr3t-of-the-test";

    private static Message ask(int id) {
        return message("{'jsonrpc':'2.0','id':%d,'method':'echo','params':{'n':%d}}".formatted(id, id));
    }

    private static int seen(Message answer) {
        return answer.tree().at("/result/seen").asInt();
    }

    @Test
    void eachConnectionIsAProcessOfItsOwn() throws Exception {
        var first = new Client();
        var second = new Client();
        try (var home = open(script(ECHO, Map.of()));
                var one = home.connect(first);
                var other = home.connect(second)) {
            one.send(ask(1));
            one.send(ask(2));
            assertThat(seen(first.next())).isEqualTo(1);
            assertThat(seen(first.next())).isEqualTo(2);
            other.send(ask(3));
            assertThat(seen(second.next())).isEqualTo(1);
            assertThat(sides()).hasSize(1);
        }
        assertThat(first.over).isNotDone();
        assertThat(sides()).isEmpty();
    }

    @Test
    void findsWhatItWasGivenAroundItAndNothingElse() throws Exception {
        String script = """
                const {execSync} = require('child_process');
                const result = {env: process.env, uid: process.getuid(), cwd: process.cwd(),
                    target: (require('fs').writeFileSync('/data/x/file', ''), require('fs').statSync('/data/x/file').uid)};
                console.log('hello, I am a banner');
                console.log(JSON.stringify({jsonrpc: '2.0', id: 1, result}));
                setInterval(() => {}, 1000);
                """;
        var plain = script(script, Map.of("MINE", SECRET));
        var plan = new LaunchPlan(
                plain.key(),
                plain.name(),
                plain.start(),
                plain.environment(),
                List.of(new LaunchPlan.Volume("mine", "/data/x", false)),
                null,
                plain.network(),
                false,
                false);
        var client = new Client();
        try (var home = open(plan);
                var _ = home.connect(client)) {
            var result = client.next().tree().path("result");
            assertThat(result.path("env").propertyNames())
                    .containsExactlyInAnyOrder(
                            "PATH",
                            "HOME",
                            "LANG",
                            "MINE",
                            "NODE_EXTRA_CA_CERTS",
                            "SSL_CERT_FILE",
                            "REQUESTS_CA_BUNDLE");
            assertThat(result.at("/env/MINE").asString()).isEqualTo(SECRET);
            assertThat(result.path("uid").asInt()).isEqualTo(1000);
            assertThat(result.path("cwd").asString()).isEqualTo("/home/user");
            assertThat(result.path("target").asInt()).isEqualTo(1000);
        }
    }

    @Test
    void saysWhyAServerEndedWithoutItsSecrets() throws Exception {
        var client = new Client();
        String script = "console.error('x'.repeat(9000) + process.env.TOKEN + ' bad token ' + process.env.TOKEN);"
                + "process.exit(3)";
        try (var home = open(script(script, Map.of("TOKEN", SECRET)));
                var link = home.connect(client)) {
            assertThat(client.reason())
                    .startsWith("server test-server ended (exit status 3); it said last: x")
                    .endsWith("x*** bad token ***")
                    .hasSizeLessThan(4200);
            assertThatThrownBy(() -> link.send(ask(1)))
                    .isInstanceOf(CayException.class)
                    .hasMessageContaining("exit status 3");
        }
    }

    @Test
    void saysThatAProgramIsMissing() {
        var plan = plan(new LaunchPlan.Command(List.of("nonesuch", SECRET)), Map.of());
        try (var home = open(plan)) {
            assertThatThrownBy(() -> home.connect(new Client()))
                    .isInstanceOf(CayException.class)
                    .hasMessage("server test-server cannot be started: its sandbox has no program nonesuch");
        }
    }

    @Test
    void givesUpAServerThatPrintsSomethingElse() throws Exception {
        gives("for (;;) console.log('no message')", "more than 1000 lines in a row");
        gives("const s = 'x'.repeat(1 << 20); const f = () => process.stdout.write(s, f); f()", "longer than 32 MiB");
        gives("for (;;) require('fs').writeSync(1, '\\n'.repeat(60000))", "more than 10000 empty lines in a row");
        gives("console.log('[' + '[],'.repeat(3e6) + '[]]')", "more than 500,000 parts");
    }

    private void gives(String script, String reason) throws Exception {
        var client = new Client();
        try (var home = open(script(script, Map.of()));
                var _ = home.connect(client)) {
            assertThat(client.reason())
                    .startsWith("server test-server is given up")
                    .contains(reason);
        }
    }

    @Test
    void givesUpAServerThatDoesNotRead() throws Exception {
        var client = new Client();
        try (var home = open(script("setInterval(() => {}, 1000)", Map.of()));
                var link = home.connect(client)) {
            var large = message(
                    "{'jsonrpc':'2.0','id':1,'method':'echo','params':{'text':'%s'}}".formatted("x".repeat(300_000)));
            assertThatThrownBy(() -> link.send(large))
                    .isInstanceOf(CayException.class)
                    .hasMessageContaining("did not read its input for 30 s");
            assertThat(client.reason()).contains("did not read its input for 30 s");
        }
    }

    @Test
    void carriesLargeMessagesBothWays() throws Exception {
        var client = new Client();
        try (var home = open(script(ECHO, Map.of()));
                var link = home.connect(client)) {
            String text = "x".repeat(3 << 20);
            for (int i = 1; i <= 3; i++) {
                link.send(
                        message("{'jsonrpc':'2.0','id':%d,'method':'echo','params':{'text':'%s'}}".formatted(i, text)));
                assertThat(client.next().tree().at("/result/params/text").asString())
                        .isEqualTo(text);
            }
        }
    }

    @Test
    void drainsWhatAServerComplainsWhileItsListenerIsBusy() throws Exception {
        var free = new CompletableFuture<Void>();
        var client = new Client();
        String script = ECHO + "console.log('{\"jsonrpc\":\"2.0\",\"method\":\"first\"}');"
                + "setTimeout(() => { for (let i = 0; i < 500; i++) require('fs').writeSync(2, 'z'.repeat(1000));"
                + "require('fs').writeFileSync('/home/user/done', ''); }, 100);";
        ServerLink.Listener busy = new ServerLink.Listener() {
            @Override
            public void heard(Message message) {
                free.join();
                client.heard(message);
            }

            @Override
            public void over(String reason) {
                client.over(reason);
            }
        };
        try (var home = open(script(script, Map.of()));
                var link = home.connect(busy)) {
            Await.until("the server begins its work", () -> Files.exists(inside("/home/user/done")));
            free.complete(null);
            assertThat(client.next().method()).isEqualTo("first");
            link.send(ask(1));
            assertThat(seen(client.next())).isEqualTo(1);
        }
    }

    @Test
    void leavesNothingOfAConnectionThatWasClosed() throws Exception {
        String script = """
                const {spawn} = require('child_process');
                process.on('SIGTERM', () => {});
                spawn('sleep', ['7001'], {stdio: 'ignore'});
                spawn('sh', ['-c', 'trap "" TERM; sleep 7002; sleep 7003'], {stdio: 'ignore'});
                setTimeout(() => console.log('{"jsonrpc":"2.0","method":"ready"}'), 300);
                %s
                """;
        var client = new Client();
        var other = new Client();
        var leaving = new Client();
        try (var stubborn = open(script(script.formatted("setInterval(() => {}, 1000)"), Map.of()));
                var _ = stubborn.connect(other)) {
            var link = stubborn.connect(client);
            client.next();
            other.next();
            long before = processes();
            link.close();
            Await.until("half of the processes end", () -> processes() == before / 2);
            assertThat(other.over).isNotDone();
        }
        try (var home = open(script(script.formatted("setTimeout(() => process.exit(0), 600)"), Map.of()));
                var _ = home.connect(leaving)) {
            leaving.next();
            assertThat(leaving.reason()).isEqualTo("server test-server ended (exit status 0)");
            Await.until("all processes of the server end", () -> processes() == 0);
        }
        assertThat(sides()).isEmpty();
    }

    @Test
    void hasAFewConnectionsAtMost() throws Exception {
        var plan = plan(new LaunchPlan.Command(List.of("cat")), Map.of());
        var links = new ArrayList<ServerLink>();
        try (var home = open(plan)) {
            for (int i = 0; i < 48; i++) {
                links.add(home.connect(new Client()));
            }
            assertThatThrownBy(() -> home.connect(new Client()))
                    .isInstanceOfSatisfying(
                            CayException.class, e -> assertThat(e.kind()).isEqualTo(ErrorKind.EXHAUSTED))
                    .hasMessageContaining("48 connections");
            links.getFirst().close();
            Await.until("the server accepts a connection", () -> {
                try {
                    home.connect(new Client());
                    return true;
                } catch (CayException e) {
                    return false;
                }
            });
            assertThat(sides()).hasSize(1);
        }
    }

    @Test
    void startsOneRoomForAllWhoConnectAtOnce() throws Exception {
        try (var home = open(script(ECHO, Map.of()))) {
            var clients = new ArrayList<CompletableFuture<Integer>>();
            for (int i = 0; i < 8; i++) {
                var seen = new CompletableFuture<Integer>();
                clients.add(seen);
                Thread.startVirtualThread(() -> {
                    try {
                        var client = new Client();
                        home.connect(client).send(ask(1));
                        seen.complete(seen(client.next()));
                    } catch (InterruptedException | RuntimeException | AssertionError e) {
                        seen.completeExceptionally(e);
                    }
                });
            }
            for (var client : clients) {
                assertThat(client.get()).isEqualTo(1);
            }
            assertThat(sides()).hasSize(1);
        }
    }

    @Test
    void endsARoomThatNobodyIsConnectedToAndStartsAnother() throws Exception {
        try (var home = open(script(ECHO, Map.of()))) {
            for (int i = 0; i < 2; i++) {
                var client = new Client();
                var link = home.connect(client);
                link.send(ask(1));
                assertThat(seen(client.next())).isEqualTo(1);
                assertThat(sides()).hasSize(1);
                link.close();
                Await.until("the side sandbox ends", () -> sides().isEmpty());
            }
        }
    }

    @Test
    void waitsLongerAndLongerForAServerThatEndsAtOnce() throws Exception {
        try (var home = open(script("console.error('no luck'); process.exit(1)", Map.of()))) {
            for (int failure = 1; failure <= 3; failure++) {
                var client = new Client();
                home.connect(client);
                client.reason();
                if (failure == 1) {
                    continue;
                }
                int pause = failure - 1;
                assertThatThrownBy(() -> home.connect(new Client()))
                        .isInstanceOf(CayException.class)
                        .hasMessageContaining("no luck")
                        .hasMessageContaining(
                                "failed %d times in a row and is tried again in %d s".formatted(failure, pause));
                nanos.addAndGet(Duration.ofSeconds(pause).toNanos());
            }
        }
    }

    @Test
    void tellsThatItsSandboxEnded() throws Exception {
        var client = new Client();
        try (var home = open(script(ECHO, Map.of()));
                var _ = home.connect(client)) {
            node.runc.kill(sides().getFirst());
            assertThat(client.reason()).contains("ended with its sandbox: its ");
            assertThat(sides()).isEmpty();
            var next = new Client();
            home.connect(next).send(ask(1));
            assertThat(seen(next.next())).isEqualTo(1);
        }
    }
}
