package dev.cay.node.mcp.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.node.mcp.catalog.ServerLaunch;
import dev.cay.testing.Fast;
import dev.cay.tls.LocalAuthority;
import dev.cay.web.Addresses;
import dev.cay.web.Dialer;
import dev.cay.web.HostProxy;
import dev.cay.web.UrlOrigin;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.node.Ceiling;
import dev.cay.wire.node.Egress;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Where users' addresses lead to, and where they must not. The forbidden server is at 127.0.0.1, as that is what
/// tests may reach; the allowed one at 127.0.0.2.
@Timeout(60)
@Fast
final class DialerTest {
    private static final InetAddress ALLOWED = InetAddress.ofLiteral("127.0.0.2");
    private static final InetAddress FORBIDDEN = InetAddress.ofLiteral("127.0.0.1");
    private static final String GREETING = "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{}}";

    @TempDir
    private Path directory = Path.of("unset");

    private static ScriptedServer allowed(ScriptedServer.Script script) throws Exception {
        return new ScriptedServer("127.0.0.2", null, script);
    }

    private static Talk talk(URI url, Dialer dialer) {
        return new Talk(url, ServerLaunch.Transport.STREAMABLE_HTTP, dialer);
    }

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "localhost", "[::ffff:127.0.0.1]"})
    void doesNotCallThisHost(String host) throws Exception {
        try (var server = new ScriptedServer((_, out) -> out.json(GREETING))) {
            try (var talk = talk(server.urlOf(host, "/"), Talk.dialer())) {
                assertThatThrownBy(talk::connect)
                        .hasMessageContaining(
                                "is not a public address; the operator can allow it in mcp.remoteAddresses")
                        .extracting(e -> ((CayException) e).kind())
                        .isEqualTo(ErrorKind.PERMISSION_DENIED);
                assertThat(server.connections()).isZero();
            }
            // Nothing else is in the way.
            try (var talk = talk(server.urlOf(host, "/"), Talk.dialer("127.0.0.0/8", "::1"))) {
                assertThat(talk.connect().ask(0, "initialize").next()).isEqualTo(GREETING);
            }
        }
    }

    /// A server that is called for a sandbox must not be a way around the sandbox's rules.
    @Test
    void callsOnlyWhatTheRulesOfTheSandboxAllow() throws Exception {
        var only = new Egress(true, List.of("127.0.0.2"), List.of("0.0.0.0/0"), Map.of(), null, false, false);
        try (var dialer = Talk.dialer("127.0.0.0/8");
                var good = allowed((_, out) -> out.json(GREETING));
                var other = new ScriptedServer((_, out) -> out.json(GREETING))) {
            var lines = dialer.within((host, address, port) -> only.reaches(host, address, port, Ceiling.NONE));
            lines.open(UrlOrigin.of(good.url("/"))).close();
            assertThatThrownBy(() -> lines.open(UrlOrigin.of(other.url("/"))))
                    .hasMessageContaining("the egress rules of this sandbox do not allow");
            assertThat(other.connections()).isZero();
            dialer.open(UrlOrigin.of(other.url("/"))).close();
            var tried = new ArrayList<String>();
            var told = dialer.within(new Dialer.Reach() {
                @Override
                public boolean allows(String host, @Nullable InetAddress address, int port) {
                    return only.reaches(host, address, port, Ceiling.NONE);
                }

                @Override
                public void tried(String host, @Nullable InetAddress address, int port, boolean allowed) {
                    tried.add("%s %d %s".formatted(host, port, allowed));
                }
            });
            told.open(UrlOrigin.of(good.url("/"))).close();
            assertThatThrownBy(() -> told.open(UrlOrigin.of(other.url("/"))))
                    .hasMessageContaining("the egress rules of this sandbox do not allow");
            assertThat(tried)
                    .containsExactly(
                            "127.0.0.2 %d true".formatted(good.port()), "127.0.0.1 %d false".formatted(other.port()));
        }
    }

    @Test
    void refusesANameWithOneAddressTooMany() {
        try (var talk = talk(
                URI.create("https://both.example"),
                Talk.dialer(_ -> List.of(InetAddress.ofLiteral("8.8.8.8"), FORBIDDEN), null))) {
            assertThatThrownBy(talk::connect).hasMessageContaining("both.example is not a public address");
        }
    }

    /// Every second question is answered with an address that must not be called.
    @Test
    void isNotDeceivedByANameThatChanges() throws Exception {
        var questions = new AtomicInteger();
        Dialer.Names changing = _ -> List.of(questions.getAndIncrement() % 2 == 0 ? ALLOWED : FORBIDDEN);
        try (var good = allowed((_, out) -> {
                    out.json(GREETING);
                    out.end();
                });
                var bad = new ScriptedServer("127.0.0.1", good.port(), null, (_, out) -> out.json(GREETING))) {
            // Who looks at one answer and connects by another is deceived.
            var policy = Addresses.allowing(List.of("127.0.0.2"));
            assertThat(policy.allow("x", changing.find("x").getFirst())).isTrue();
            try (var socket = new Socket(changing.find("x").getFirst(), good.port())) {
                socket.getOutputStream().write("GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
                assertThat(socket.getInputStream().read()).isPositive();
            }
            assertThat(bad.connections()).isOne();

            int refused = 0;
            for (int i = 0; i < 10; i++) {
                try (var talk = talk(good.urlOf("turn.example", "/"), Talk.dialer(changing, null, "127.0.0.2"))) {
                    talk.connect().ask(0, "initialize").next();
                } catch (CayException e) {
                    assertThat(e).hasMessageContaining("turn.example is not a public address");
                    refused++;
                }
            }
            assertThat(refused).isPositive();
            assertThat(good.connections()).isPositive();
            assertThat(bad.connections()).isOne();
        }
    }

    @Test
    void doesNotFollowToWhatItWouldNotCall() throws Exception {
        try (var bad = new ScriptedServer((_, out) -> out.json(GREETING));
                var good = allowed((_, out) -> out.redirect(307, bad.url("/steal")));
                var talk = talk(good.url("/"), Talk.dialer("127.0.0.2"))) {
            talk.connect().ask(0, "initialize");
            assertThat(talk.next()).startsWith("over: wiki cannot be called: 127.0.0.1 is not a public address");
            assertThat(bad.connections()).isZero();
        }
    }

    @Test
    void keepsCredentialsToTheServerTheyAreFor() throws Exception {
        try (var other = new ScriptedServer("127.0.0.3", null, (_, out) -> out.json(GREETING));
                var good = allowed((asked, out) -> {
                    if (asked.target().equals("/")) {
                        out.redirect(308, URI.create("/here?x"));
                    } else {
                        out.redirect(307, other.url("/there"));
                    }
                });
                var talk = talk(good.url("/"), Talk.dialer("127.0.0.2/31"))) {
            assertThat(talk.connect().ask(0, "initialize").next()).isEqualTo(GREETING);
            assertThat(good.asked()).extracting(ScriptedServer.Asked::target).containsExactly("/", "/here?x");
            assertThat(good.asked())
                    .allSatisfy(
                            asked -> assertThat(asked.header("Authorization")).isEqualTo(Talk.SECRET));
            assertThat(other.asked()).singleElement().satisfies(asked -> {
                assertThat(asked.method()).isEqualTo("POST");
                assertThat(asked.body()).contains("initialize");
                assertThat(asked.header("Authorization")).isEmpty();
            });
        }
    }

    @Test
    void followsOnlyAFewTimes() throws Exception {
        try (var server = allowed((_, out) -> out.redirect(307, URI.create("/again")));
                var talk = talk(server.url("/"), Talk.dialer("127.0.0.2"))) {
            talk.connect().ask(0, "initialize");
            assertThat(talk.next()).contains("redirects more than 5 times");
            assertThat(server.asked()).hasSize(6);
        }
    }

    @Test
    void goesFromHttpsToNothingLess() throws Exception {
        var authority = LocalAuthority.open(directory, "cay.localhost");
        try (var plain = allowed((_, out) -> out.json(GREETING));
                var server = new ScriptedServer(
                        "127.0.0.1", authority.tls(), (_, out) -> out.redirect(307, plain.url("/")));
                var talk = talk(
                        server.urlOf("localhost", "/"),
                        Talk.dialer(_ -> List.of(FORBIDDEN), authority.trusting(), "localhost", "127.0.0.0/8"))) {
            talk.connect().ask(0, "initialize");
            assertThat(talk.next()).contains("redirects from https to http");
            assertThat(plain.connections()).isZero();
        }
    }

    @Test
    void believesOnlyTheOwnerOfTheName() throws Exception {
        var authority = LocalAuthority.open(directory, "cay.localhost");
        try (var server = new ScriptedServer("127.0.0.1", authority.tls(), (_, out) -> out.json(GREETING))) {
            Dialer.Names anything = _ -> List.of(FORBIDDEN);
            try (var talk = talk(
                    server.urlOf("a.cay.localhost", "/"),
                    Talk.dialer(anything, authority.trusting(), "*.cay.localhost"))) {
                assertThat(talk.connect().ask(0, "initialize").next()).isEqualTo(GREETING);
            }
            try (var talk = talk(
                    server.urlOf("other.example", "/"), Talk.dialer(anything, authority.trusting(), "other.example"))) {
                assertThatThrownBy(talk::connect).hasMessageContaining("no secure connection can be made");
            }
            try (var talk =
                    talk(server.urlOf("a.cay.localhost", "/"), Talk.dialer(anything, null, "*.cay.localhost"))) {
                assertThatThrownBy(talk::connect).hasMessageContaining("no secure connection can be made");
            }
        }
    }

    @Test
    void speaksPlainHttpOnlyWhereTheOperatorSaysSo() {
        Dialer.Names elsewhere = _ -> List.of(InetAddress.ofLiteral("8.8.8.8"));
        try (var talk = talk(URI.create("http://plain.example/mcp"), Talk.dialer(elsewhere, null))) {
            assertThatThrownBy(talk::connect)
                    .hasMessageContaining("plain.example is called by http")
                    .hasMessageContaining("use https");
        }
    }

    @Test
    void leavesNamesToTheProxyOfTheHost() throws Exception {
        var authority = LocalAuthority.open(directory, "cay.localhost");
        try (var proxy = new ScriptedServer((_, out) -> out.whole("502 No", "", ""))) {
            var host = Objects.requireNonNull(HostProxy.of(
                    Map.of("HTTPS_PROXY", "http://u:p@127.0.0.1:" + proxy.port(), "NO_PROXY", ".corp, x.y")));
            Dialer.Names none = _ -> {
                throw new AssertionError("a name was looked up");
            };
            for (String target : List.of("10.0.0.1", "localhost", "db", "a.local", "[::1]", "x.internal")) {
                try (var talk = talk(URI.create("https://" + target + "/"), proxied(none, host, authority))) {
                    assertThatThrownBy(talk::connect).hasMessageContaining("is not a public address");
                }
            }
            assertThat(proxy.connections()).isZero();
            try (var talk = talk(URI.create("https://far.example/"), proxied(none, host, authority))) {
                assertThatThrownBy(talk::connect)
                        .hasMessageContaining("the proxy of this host does not connect to it (502)");
            }
            assertThat(proxy.asked()).singleElement().satisfies(asked -> {
                assertThat(asked.method() + asked.target()).isEqualTo("CONNECTfar.example:443");
                assertThat(asked.header("Proxy-Authorization")).isEqualTo("Basic dTpw");
                assertThat(asked.header("Authorization")).isEmpty();
            });
            assertThat(List.of("127.1", "0x7f.1", "2130706433", "0x7f000001", "x.localhost."))
                    .noneMatch(HostProxy::worldwide);
            assertThat(host.toString()).doesNotContain("dTpw");
            assertThat(host.serves(UrlOrigin.of(URI.create("https://wiki.corp"))))
                    .isFalse();
            assertThat(host.serves(UrlOrigin.of(URI.create("https://x.y")))).isFalse();
            assertThat(host.serves(UrlOrigin.of(URI.create("https://xx.y")))).isTrue();
        }
    }

    private static Dialer proxied(Dialer.Names names, HostProxy proxy, LocalAuthority authority) {
        return new Dialer(Addresses.allowing(List.of()), names, authority.trusting(), proxy);
    }
}
