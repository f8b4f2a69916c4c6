package dev.cay.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.life.Undo;
import dev.cay.testing.Fast;
import dev.cay.tls.LocalAuthority;
import dev.cay.wire.SandboxId;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Fast
class HttpListenersTest {
    @TempDir
    @SuppressWarnings("NullAway.Init")
    Path directory;

    @Test
    void threeHundredBlockedRequestsDoNotStopAnother() throws Exception {
        var arrived = new CountDownLatch(300);
        var go = new CountDownLatch(1);
        Handler handler = exchange -> {
            if (exchange.path().equals("/wait")) {
                assertThat(Thread.currentThread().isVirtual()).isTrue();
                arrived.countDown();
                assertThat(go.await(20, TimeUnit.SECONDS)).isTrue();
            }
            exchange.send(204);
        };
        try (var http = new TestHttp(directory, handler)) {
            var clients = new ArrayList<RawClient>();
            for (int i = 0; i < 300; i++) {
                clients.add(new RawClient(http.plain).send("GET /wait HTTP/1.1\r\nHost: x\r\n\r\n"));
            }
            assertThat(arrived.await(30, TimeUnit.SECONDS)).isTrue();
            var quick = http.http2().send(http.request(true, "/now").build(), BodyHandlers.discarding());
            assertThat(quick.statusCode()).isEqualTo(204);
            go.countDown();
            for (RawClient client : clients) {
                assertThat(client.head().getFirst()).isEqualTo("HTTP/1.1 204 No Content");
                client.close();
            }
        }
    }

    @Test
    void fromInsideASandboxComeOnlySoManyConnections() throws Exception {
        try (var http = new TestHttp(directory, exchange -> exchange.send(204));
                var socket = ServerSocketChannel.open()) {
            socket.bind(TestHttp.loopback(), 1024);
            var inside = (InetSocketAddress) socket.getLocalAddress();
            try (var _ = http.listeners.adopt(socket, new SandboxId("one"), exchange -> exchange.send(204))) {
                assertThat(answered(inside, 400)).isBetween(1, 256);
            }
            // The control: a port of the host, where everybody comes to.
            assertThat(answered(http.plain, 400)).isEqualTo(400);
        }
    }

    /// 96 MB in two connections are two seconds more than may come at once, less what the kernel's buffers hold.
    @Test
    void fromInsideASandboxUnwantedBytesAreTakenSlowly() throws Exception {
        try (var http = new TestHttp(directory, exchange -> exchange.send(429));
                var socket = ServerSocketChannel.open()) {
            socket.bind(TestHttp.loopback(), 16);
            var inside = (InetSocketAddress) socket.getLocalAddress();
            try (var _ = http.listeners.adopt(socket, new SandboxId("one"), exchange -> exchange.send(429));
                    var first = new RawClient(inside);
                    var second = new RawClient(inside)) {
                long began = System.nanoTime();
                var sent = List.of(first, second).stream()
                        .map(client -> CompletableFuture.runAsync(() -> sendUnwanted(client)))
                        .toList();
                for (var each : sent) {
                    each.get(30, TimeUnit.SECONDS);
                }
                assertThat(Duration.ofNanos(System.nanoTime() - began)).isGreaterThan(Duration.ofMillis(1000));
                assertThat(first.head().getFirst()).isEqualTo("HTTP/1.1 429 Too Many Requests");
                assertThat(second.head().getFirst()).isEqualTo("HTTP/1.1 429 Too Many Requests");
            }
        }
    }

    private static void sendUnwanted(RawClient client) {
        try {
            client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n".formatted(48 << 20));
            for (int i = 0; i < 48; i++) {
                client.send(" ".repeat(1 << 20));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void onePortServesTlsAndPlainOfBothVersions() throws Exception {
        Handler handler =
                exchange -> exchange.send(200, "text/plain", (exchange.secure() ? "secure" : "plain").getBytes(UTF_8));
        try (var http = new TestHttp(directory, handler);
                var socket = ServerSocketChannel.open()) {
            socket.bind(TestHttp.loopback(), 16);
            var inside = (InetSocketAddress) socket.getLocalAddress();
            try (var _ = http.listeners.adoptTls(socket, new SandboxId("one"), http.tls(), handler)) {
                for (var port : List.of(http.secure, inside)) {
                    for (var client : List.of(http.http1(), http.http2())) {
                        assertThat(get(client, "http", port)).isEqualTo("plain");
                    }
                    assertThat(get(http.http2(), "https", port)).isEqualTo("secure");
                    hearsSettings(port);
                }
            }
        }
    }

    /// One byte says nothing yet, and whoever sends no more holds up nobody.
    @Test
    void waitsForASecondByteBeforeItDecides() throws Exception {
        try (var http = new TestHttp(directory, exchange -> exchange.send(204));
                var slow = new RawClient(http.secure).send("G");
                var quick = new RawClient(http.secure).send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")) {
            assertThat(quick.head().getFirst()).isEqualTo("HTTP/1.1 204 No Content");
            slow.send("ET / HTTP/1.1\r\nHost: x\r\n\r\n");
            assertThat(slow.head().getFirst()).isEqualTo("HTTP/1.1 204 No Content");
        }
    }

    private static String get(HttpClient client, String scheme, InetSocketAddress port) throws Exception {
        var uri = URI.create("%s://localhost:%d/".formatted(scheme, port.getPort()));
        var request = HttpRequest.newBuilder(uri).timeout(TestHttp.LIMIT).build();
        return client.send(request, BodyHandlers.ofString()).body();
    }

    /// HTTP/2 by prior knowledge: the first frame that comes back is SETTINGS.
    private static void hearsSettings(InetSocketAddress port) throws IOException {
        try (var socket = new Socket(port.getAddress(), port.getPort())) {
            socket.setSoTimeout((int) TestHttp.LIMIT.toMillis());
            socket.getOutputStream().write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0".getBytes(ISO_8859_1));
            assertThat(socket.getInputStream().readNBytes(4)[3]).isEqualTo((byte) 4);
        }
    }

    /// How many of so many connections at once get an answer.
    private static int answered(InetSocketAddress to, int connections) throws IOException {
        var clients = new ArrayList<Socket>();
        int answers = 0;
        try {
            for (int i = 0; i < connections; i++) {
                clients.add(new Socket(to.getAddress(), to.getPort()));
            }
            for (Socket client : clients) {
                client.setSoTimeout((int) TestHttp.LIMIT.toMillis());
                try {
                    client.getOutputStream().write("GET / HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(UTF_8));
                    answers += client.getInputStream().read() < 0 ? 0 : 1;
                } catch (IOException cut) {
                    // That is how it is told.
                }
            }
        } finally {
            for (Socket client : clients) {
                client.close();
            }
        }
        return answers;
    }

    /// Java's client does so by default on plain HTTP.
    @Test
    void anOfferToUpgradeLeavesTheBodyWhole() throws Exception {
        try (var http = new TestHttp(
                        directory,
                        exchange ->
                                exchange.send(200, "text/plain", exchange.body().readAllBytes()));
                var client = HttpClient.newHttpClient()) {
            var request = http.request(false, "/echo")
                    .POST(BodyPublishers.ofString("all of it"))
                    .build();
            assertThat(client.send(request, BodyHandlers.ofString()).body()).isEqualTo("all of it");
        }
    }

    /// A client that begins with HTTP/2 hears it: the first frame that comes back is SETTINGS.
    /// Jetty alone would keep the connection for ever.
    @Test
    void closesABrokenHttp2ConnectionOnWhichNothingCanBeSentAnyMore() throws Exception {
        var answered = new CountDownLatch(2);
        try (var http = new TestHttp(directory, exchange -> {
                    exchange.onEnd(answered::countDown);
                    exchange.send(204);
                });
                var plain = new RawClient(http.plain);
                var secure = (SSLSocket) http.trusting().getSocketFactory().createSocket()) {
            var parameters = secure.getSSLParameters();
            parameters.setApplicationProtocols(new String[] {"h2"});
            secure.setSSLParameters(parameters);
            secure.setSoTimeout((int) TestHttp.LIMIT.toMillis());
            secure.connect(http.secure);
            for (Socket client : List.of(plain.socket, secure)) {
                // Heads of answers may be one byte long; a request.
                client.getOutputStream()
                        .write(("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
                                        + "\0\0\6\4\0\0\0\0\0" + "\0\6\0\0\0\1"
                                        + "\0\0\6\1\5\0\0\0\1" + "\202\204\206\101\1x")
                                .getBytes(ISO_8859_1));
            }
            assertThat(answered.await(TestHttp.LIMIT.toSeconds(), TimeUnit.SECONDS))
                    .isTrue();
            for (Socket client : List.of(plain.socket, secure)) {
                // Settings are six bytes each, not one.
                client.getOutputStream().write("\0\0\1\4\0\0\0\0\0x".getBytes(ISO_8859_1));
                // Whatever came before: then it ends, and no time limit of ours is reached.
                client.getInputStream().readAllBytes();
            }
        }
    }

    /// Each of them holds a request whose handler waits for the rest of its body.
    @Test
    void clientsThatSendTheirBodiesSlowlyHoldUpNobody() throws Exception {
        int many = 300;
        var waiting = new CountDownLatch(many);
        try (var http = new TestHttp(directory, exchange -> {
                    if (exchange.path().equals("/slow")) {
                        waiting.countDown();
                        exchange.body().readAllBytes();
                    }
                    exchange.send(204);
                });
                var clients = new Undo()) {
            for (int i = 0; i < many; i++) {
                var slow = clients.add(new RawClient(http.plain));
                slow.send("POST /slow HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nsome");
            }
            assertThat(waiting.await(TestHttp.LIMIT.toSeconds(), TimeUnit.SECONDS))
                    .isTrue();
            try (var other = new RawClient(http.plain)) {
                other.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
                assertThat(other.head().getFirst()).isEqualTo("HTTP/1.1 204 No Content");
            }
        }
    }

    @Test
    void servesHttp2ToWhoeverKnowsItBeforehand() throws Exception {
        try (var http = new TestHttp(directory, exchange -> exchange.send(204));
                var client = new RawClient(http.plain)) {
            client.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + "\0\0\0\4\0\0\0\0\0");
            byte[] head = client.in.readNBytes(9);
            assertThat(head[0]).isZero();
            assertThat(head[3]).isEqualTo((byte) 4);
        }
    }

    @Test
    void closingAnAdoptedSocketCutsItsConnectionsOnly() throws Exception {
        var inside = new SandboxId("abc");
        Handler handler = exchange -> {
            exchange.stream(200).flush();
            exchange.onEnd(() -> {});
            exchange.body().read();
            new CountDownLatch(1).await(20, TimeUnit.SECONDS);
        };
        try (var http = new TestHttp(directory, exchange -> {
            assertThat(exchange.inside()).isNull();
            exchange.send(200);
        })) {
            var socket = ServerSocketChannel.open().bind(TestHttp.loopback());
            var address = (InetSocketAddress) socket.getLocalAddress();
            AutoCloseable adopted = http.listeners.adopt(socket, inside, exchange -> {
                assertThat(exchange.inside()).isEqualTo(inside);
                handler.handle(exchange);
            });
            try (var within = new RawClient(address);
                    var idle = new RawClient(address);
                    var outside = new RawClient(http.plain)) {
                within.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
                assertThat(within.head().getFirst()).isEqualTo("HTTP/1.1 200 OK");
                idle.send("GET / HT");
                adopted.close();
                assertThatThrownBy(within::line).isInstanceOf(IOException.class).hasMessageContaining("reset");
                assertThatThrownBy(idle::line).isInstanceOf(IOException.class);
                assertThatThrownBy(() -> new RawClient(address)).isInstanceOf(IOException.class);
                outside.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
                assertThat(outside.head().getFirst()).isEqualTo("HTTP/1.1 200 OK");
            }
            // The descriptor is gone as well, or the port would still be taken.
            ServerSocketChannel.open().bind(address).close();
        }
    }

    @Test
    void servesTlsToAnyHostNameWithBothProtocols() throws Exception {
        try (var http = new TestHttp(directory, exchange -> exchange.sendJson(200, exchange.authority()))) {
            var answer = http.http2().send(http.request(true, "/").build(), BodyHandlers.ofString());
            assertThat(answer.version().name()).isEqualTo("HTTP_2");
            SSLContext trusting =
                    LocalAuthority.open(directory, "cay.localhost").trusting();
            try (Socket tcp = new Socket(http.secure.getAddress(), http.secure.getPort());
                    var tls = (SSLSocket) trusting.getSocketFactory()
                            .createSocket(tcp, "3000-abc.cay.localhost", http.secure.getPort(), true)) {
                var parameters = tls.getSSLParameters();
                parameters.setEndpointIdentificationAlgorithm("HTTPS");
                parameters.setApplicationProtocols(new String[] {"http/1.1"});
                tls.setSSLParameters(parameters);
                tls.setSoTimeout(20_000);
                tls.getOutputStream()
                        .write("GET / HTTP/1.1\r\nHost: other.example\r\nConnection: close\r\n\r\n"
                                .getBytes(java.nio.charset.StandardCharsets.US_ASCII));
                assertThat(new String(tls.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8))
                        .startsWith("HTTP/1.1 200")
                        .endsWith("\"other.example\"")
                        .doesNotContain("Server:");
            }
        }
    }

    @Test
    void aTakenPortIsToldAsSuch() throws Exception {
        try (var http = new TestHttp(directory, exchange -> exchange.send(200))) {
            assertThatThrownBy(() -> http.listeners.listen(http.plain, exchange -> exchange.send(200)))
                    .isInstanceOf(BindException.class);
        }
    }
}
