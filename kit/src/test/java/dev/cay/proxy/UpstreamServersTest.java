package dev.cay.proxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.http.RawClient;
import dev.cay.http.TestHttp;
import dev.cay.metrics.Meters;
import dev.cay.testing.Fast;
import java.io.IOException;
import java.net.Socket;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The proxy against servers that say exactly what the test tells them to, good or bad.
@Fast
class UpstreamServersTest {
    @TempDir
    @SuppressWarnings("NullAway.Init")
    Path directory;

    private final RawServer server = new RawServer();
    private final ReverseProxy proxy = new ReverseProxy(new Meters());

    @SuppressWarnings("NullAway.Init")
    private TestHttp edge;

    UpstreamServersTest() throws IOException {}

    @BeforeEach
    void serve() throws IOException {
        edge = new TestHttp(directory, exchange -> {
            WithheldHeaders.headers(exchange, Set.of("X-Ours"));
            proxy.forward(exchange, server.upstream());
        });
    }

    @AfterEach
    void stop() throws IOException {
        edge.close();
        proxy.close();
        server.close();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void passesTheHeadBeforeTheBodyBegins(boolean second) throws Exception {
        var answer = edge.client(second).sendAsync(edge.request(second, "/").build(), BodyHandlers.ofInputStream());
        Socket inside = server.accept();
        RawServer.head(inside);
        RawServer.write(inside, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n");
        var head = answer.get(20, TimeUnit.SECONDS);
        assertThat(head.headers().firstValue("content-type")).contains("text/event-stream");
        RawServer.write(inside, "data: 1\n");
        assertThat(TestHttp.readLine(head.body())).isEqualTo("data: 1");
        inside.close();
        assertThat(head.body().read()).isEqualTo(-1);
    }

    @Test
    void tunnelsAnUpgradeWithSurplusBytesOnBothSides() throws Exception {
        try (var client = new RawClient(edge.plain)) {
            client.send("GET /ws HTTP/1.1\r\nHost: x\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n"
                    + "Sec-WebSocket-Key: abc\r\n\r\nearly");
            Socket inside = server.accept();
            assertThat(RawServer.head(inside))
                    .contains("Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Key: abc");
            RawServer.write(
                    inside,
                    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                            + "Sec-WebSocket-Accept: def\r\n\r\nhello");
            assertThat(client.head())
                    .contains("HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Sec-WebSocket-Accept: def");
            assertThat(client.exactly(5)).isEqualTo("hello");
            assertThat(new String(inside.getInputStream().readNBytes(5), StandardCharsets.UTF_8))
                    .isEqualTo("early");
            for (int i = 0; i < 100; i++) {
                client.send("ping" + (i % 10));
                RawServer.write(inside, new String(inside.getInputStream().readNBytes(5), StandardCharsets.UTF_8));
                assertThat(client.exactly(5)).isEqualTo("ping" + (i % 10));
            }
            inside.close();
            assertThat(client.in.read()).isEqualTo(-1);
        }
    }

    @Test
    void anUpgradeKeepsCredentialsFromTheServer() throws Exception {
        try (var client = new RawClient(edge.plain)) {
            client.send("GET /ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                    + "X-Ours: secret\r\nX-Theirs: word\r\n\r\n");
            assertThat(RawServer.head(server.accept()))
                    .contains("Upgrade: websocket", "X-Theirs: word")
                    .doesNotContainIgnoringCase("x-ours")
                    .doesNotContain("secret");
        }
    }

    @Test
    void endsATunnelWhenTheClientLeaves() throws Exception {
        Socket inside;
        try (var client = tunnel()) {
            inside = accept(client);
        }
        assertThat(inside.getInputStream().read()).isEqualTo(-1);
    }

    @Test
    void cutsATunnel() throws Exception {
        try (var client = tunnel()) {
            Socket inside = accept(client);
            proxy.cut("k");
            assertThatThrownBy(() -> client.line())
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("reset");
            assertThat(inside.getInputStream().read()).isEqualTo(-1);
        }
    }

    @Test
    void triesAgainWhenAKeptConnectionWasClosed() throws Exception {
        var first = edge.http1().sendAsync(edge.request(false, "/").build(), BodyHandlers.ofString());
        Socket inside = server.accept();
        RawServer.head(inside);
        RawServer.write(inside, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1");
        assertThat(first.get(20, TimeUnit.SECONDS).body()).isEqualTo("1");
        var second = edge.http1().sendAsync(edge.request(false, "/").build(), BodyHandlers.ofString());
        RawServer.head(inside);
        inside.close();
        Socket other = server.accept();
        RawServer.head(other);
        RawServer.write(other, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n2");
        assertThat(second.get(20, TimeUnit.SECONDS).body()).isEqualTo("2");
    }

    @Test
    void saysSoWhenTheServerGivesNoAnswer() throws Exception {
        for (String nonsense : new String[] {"", "SSH-2.0-x\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"}) {
            var answer = edge.http1().sendAsync(edge.request(false, "/").build(), BodyHandlers.ofString());
            Socket inside = server.accept();
            RawServer.head(inside);
            RawServer.write(inside, nonsense);
            inside.close();
            assertThat(answer.get(20, TimeUnit.SECONDS).statusCode()).isEqualTo(502);
            assertThat(answer.get(20, TimeUnit.SECONDS).body()).startsWith("{\"code\":502,\"message\":\"The server");
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aShortBodyIsNeverTakenForAWholeOne(boolean second) throws Exception {
        var answer = edge.client(second).sendAsync(edge.request(second, "/").build(), BodyHandlers.ofString());
        Socket inside = server.accept();
        RawServer.head(inside);
        RawServer.write(inside, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
        inside.close();
        assertThatThrownBy(() -> answer.get(20, TimeUnit.SECONDS)).hasCauseInstanceOf(IOException.class);
    }

    private RawClient tunnel() throws IOException {
        return new RawClient(edge.plain)
                .send("GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: raw\r\n\r\n");
    }

    private Socket accept(RawClient client) throws Exception {
        Socket inside = server.accept();
        RawServer.head(inside);
        RawServer.write(inside, "HTTP/1.1 101 OK\r\nUpgrade: raw\r\nConnection: Upgrade\r\n\r\n");
        assertThat(client.head().getFirst()).contains("101");
        return inside;
    }
}
